import { readdirSync, readFileSync } from "node:fs";

/** Ids of running processes whose command line holds these words (Linux). */
export function programsWith(words: string): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").includes(words);
    } catch {
      return false;
    }
  });
}
