import { test } from "vitest";
import { pageBackWhileItGrows } from "../support/paging.ts";
import { endToEnd } from "../support/recording.ts";

endToEnd();

test("Codex Desktop pages back through a saved session of 10,000 items while its own program goes on with it", async () => {
  await pageBackWhileItGrows({ turns: 500, items: 20 });
});
