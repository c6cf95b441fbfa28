import { readdirSync, readFileSync } from "node:fs";

export interface RunningProcess {
  pid: number;
  parent: number;
  /** A zombie: ended, and nobody asked how. */
  isZombie: boolean;
  command: string;
}

/** All processes whose `HOME` this is: what was started for one test, however deep (Linux). */
export function processesOf(home: string): RunningProcess[] {
  return allProcesses().filter(({ pid }) => read(`/proc/${pid}/environ`).split("\0").includes(`HOME=${home}`));
}

/** Ended children of this process that it never asked about. */
export function zombiesOf(parent: number): RunningProcess[] {
  return allProcesses().filter((one) => one.isZombie && one.parent === parent);
}

/** The real Codex among them: its launcher and the program itself. Not the shell that watches over their end. */
export function codexOf(home: string): RunningProcess[] {
  return processesOf(home).filter(({ command }) => / app-server .*--listen unix:/.test(command) && !/^\S*sh -c /.test(command));
}

function allProcesses(): RunningProcess[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    // `pid (any name) state parent …`
    const [, state, parent] = /^\d+ \(.*\) (\S) (\d+)/s.exec(read(`/proc/${name}/stat`)) ?? [];
    return state === undefined ? [] : [{ pid: Number(name), parent: Number(parent), isZombie: state === "Z", command: read(`/proc/${name}/cmdline`).replaceAll("\0", " ").trim() }];
  });
}

/** Empty for a process that has gone meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
