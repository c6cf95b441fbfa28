import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { classifyCommand } from "../../packages/protocol-core/src/tools/shell/index.ts";
import type { CorpusSuite } from "./suite.ts";

/** `cwd` is the directory the command ran in, so a `workdir` among the arguments is already part of it. */
const rowSchema = z.object({
  command: z.string(),
  cwd: z.string(),
  actions: z.array(z.record(z.string(), z.unknown())),
  args: z.record(z.string(), z.unknown()).optional(),
});

/** Command lines with the `commandActions` a real Codex server reported for them. */
export const suite: CorpusSuite = {
  name: "commands",
  check(row) {
    const { command, cwd, actions: want } = rowSchema.parse(row);
    const got = classifyCommand(command, { cwd });
    return { pass: isDeepStrictEqual(got, want), got, want };
  },
};
