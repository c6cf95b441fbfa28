import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes that this one descends from, the nearest first (Linux). */
export function ancestorsOf(pid: number): number[] {
  const found: number[] = [];
  for (let at = parentOf(pid); at > 1; at = parentOf(at)) found.push(at);
  return found;
}

/** 0 for a process that has gone meanwhile. */
function parentOf(pid: number): number {
  try {
    // `pid (any name) state parent …`
    return Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))![1]);
  } catch {
    return 0;
  }
}

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
