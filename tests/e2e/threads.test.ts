import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { foldcast } from "../support/command.ts";
import { temporaryDir } from "../support/paths.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer } from "../support/server.ts";

endToEnd();

/** A thread without a server; the words are of no interest. */
const talk = (dataDir: string) => foldcast(["chat", "--data-dir", dataDir, "--model", "scripted/plain", "--scenario-speed", "0"], { input: "a first prompt\n" });

test("threads are read from the folder, and from the server that has it; its address for everybody wants the token", async () => {
  const folder = temporaryDir("threads");
  const [dataDir, token, config] = [join(folder, "data"), join(folder, "token"), join(folder, "config.toml")];
  writeFileSync(token, "right\n");
  writeFileSync(config, `data_dir = "data"\nws_token_file = "token"\n`);
  expect(await talk(dataDir)).toMatchObject({ code: 0, stderr: "" });
  const list = () => foldcast(["threads", "list", "--json", "--config", config]);
  const alone = await list();
  expect(JSON.parse(alone.stdout)).toMatchObject([{ preview: "a first prompt", status: "notLoaded", model: "scripted/plain" }]);

  await using server = await startServer({ dataDir, args: ["--ws-token-file", token] });
  expect(await list()).toEqual(alone);
  writeFileSync(token, "wrong\n");
  // Its private socket asks for none.
  expect(await list()).toEqual(alone);
  expect(await foldcast(["threads", "list", "--json", "--server", server.url, "--token-file", token])).toMatchObject({
    code: 1, stdout: "", stderr: expect.stringContaining(`cannot connect to ${server.url}: it refuses the token`),
  });
});
