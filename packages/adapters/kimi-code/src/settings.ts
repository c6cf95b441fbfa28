import { z } from "zod";

/** Settings of this harness, members of `harnesses.kimi-code` in the host's settings. */
const settingsSchema = z.object({
  bin: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
export type KimiSettings = z.infer<typeof settingsSchema>;

/** What each setting does, in a line. */
export const settingWords: Readonly<Record<string, string>> = {
  bin: "the program; default: `kimi` on the PATH",
  args: "further arguments behind `kimi acp`",
  env: "variables on top of the environment of this process",
};

/** Throws with a readable message. */
export function readSettings(settings: Readonly<Record<string, unknown>>): KimiSettings {
  const parsed = settingsSchema.safeParse(settings);
  if (!parsed.success) throw new Error(`Settings of Kimi Code: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
