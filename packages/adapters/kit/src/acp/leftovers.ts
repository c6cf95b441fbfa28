import { readdir, readFile } from "node:fs/promises";

const NAME = "FOLDCAST_AGENT";
const GRACE_MS = 1000;
const POLL_MS = 20;

/** The environment by which all that a program starts can be found again, whichever process group it is in. */
export function markedEnv(env: NodeJS.ProcessEnv, id: string): NodeJS.ProcessEnv {
  return { ...env, [NAME]: id };
}

/**
 * Ends what a program left behind: agents run commands in groups of their own, which outlive an agent that was killed.
 * Only where there is `/proc` (Linux); elsewhere nothing can be found. Never rejects.
 */
export async function endLeftovers(id: string): Promise<void> {
  let left = await marked(id);
  for (const pid of left) signal(pid, "SIGTERM");
  const deadline = performance.now() + GRACE_MS;
  while (left.length > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    left = left.filter((pid) => signal(pid, 0));
  }
  // By now one of them may have started another one, and an id may mean another process.
  if (left.length > 0) for (const pid of await marked(id)) signal(pid, "SIGKILL");
}

async function marked(id: string): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(pids.map(async (pid) => {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    return `\0${environment}`.includes(`\0${NAME}=${id}\0`) ? [Number(pid)] : [];
  }));
  return found.flat();
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
