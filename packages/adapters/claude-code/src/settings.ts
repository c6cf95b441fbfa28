import { z } from "zod";

/** Settings of this harness, members of `harnesses.claude-code` in the host's settings. */
const settingsSchema = z.object({
  /** The program; default: `claude` on the PATH. */
  bin: z.string().min(1).optional(),
  /** Further arguments for every session. */
  args: z.array(z.string()).optional(),
  /** Variables on top of the environment of this process. */
  env: z.record(z.string(), z.string()).optional(),
});
export type ClaudeSettings = z.infer<typeof settingsSchema>;

/** Throws with a readable message. */
export function readSettings(settings: Readonly<Record<string, unknown>>): ClaudeSettings {
  const parsed = settingsSchema.safeParse(settings);
  if (!parsed.success) throw new Error(`Settings of Claude Code: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
