import { expect, test } from "vitest";
import { missingWords } from "./codex-words.ts";

test("options that another command line lacks are told with their values, wherever the others stand", () => {
  const owner = ["-c", "features.code_mode_host=true", "--analytics-default-enabled", "--enable", "x"];
  expect(missingWords(["--enable", "x", "-c", "features.code_mode_host=true"], owner)).toEqual([]);
  expect(missingWords(["-c", "features.code_mode_host=false", "--enable", "y", "--new-flag"], owner)).toEqual(["-c features.code_mode_host=false", "--enable y", "--new-flag"]);
  expect(missingWords(["-c"], [])).toEqual(["-c"]);
  expect(missingWords([], owner)).toEqual([]);
});
