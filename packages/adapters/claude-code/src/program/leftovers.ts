import { readdir, readFile } from "node:fs/promises";

const POLL_MS = 50;
const GRACE_MS = 1000;

/**
 * Ends the shells of a program that died before it could do so itself: it runs each in a process group of its own, out of
 * reach of its own group (2.1.332). What a command set free on purpose, a server for one, has another command line and
 * stays. Looks where processes can be looked at, on Linux. Never rejects.
 */
export async function endLeftovers(programPid: number): Promise<void> {
  const shells = await shellsOf(programPid);
  if (shells.length === 0) return;
  for (const pid of shells) signal(pid, "SIGTERM");
  for (let waited = 0; waited < GRACE_MS && shells.some((pid) => signal(pid, 0)); waited += POLL_MS) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  for (const pid of shells) signal(pid, "SIGKILL");
}

async function shellsOf(programPid: number): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await isShellOf(pid, programPid)) ? [pid] : [])));
  return found.flat();
}

async function isShellOf(pid: number, programPid: number): Promise<boolean> {
  try {
    if (!(await readFile(`/proc/${pid}/cmdline`, "utf8")).includes("/shell-snapshots/")) return false;
    return (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").includes(`CLAUDE_PID=${programPid}`);
  } catch {
    // Gone, or somebody else's.
    return false;
  }
}

/** To the group that the process leads; false when there is none. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, name);
    return true;
  } catch {
    return false;
  }
}
