import { lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import { makeFolder } from "../make-folder.ts";
import { ListenError } from "./listen-error.ts";

/** Removes a socket file that nobody answers on; one that somebody answers on is taken. Makes the folder, for this user alone. */
export async function prepareSocketPath(path: string): Promise<void> {
  try {
    makeFolder(dirname(path), 0o700);
  } catch (error) {
    throw new ListenError("failed", `cannot listen on ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const answered = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once("connect", () => (probe.destroy(), resolve(true)));
    probe.once("error", () => resolve(false));
  });
  if (answered) throw new ListenError("portTaken", `${path} is already in use`);
  const stale = await lstat(path).catch(() => null);
  if (stale === null) return;
  if (!stale.isSocket()) throw new ListenError("failed", `${path} exists and is no socket`);
  await unlink(path);
}
