import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { access, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SESSIONS_ADVICE } from "../server-options.ts";
import { fault, ok, warning } from "./check.ts";
import type { Check, Finding } from "./check.ts";

const SHOWN_FILES = 3;
/** Of all kinds of systems, only these have modes that say something. */
const HAS_MODES = process.platform !== "win32";

const lookAt = (path: string): Promise<Stats | null> => stat(path).catch(() => null);
const isOpen = (info: Stats): boolean => HAS_MODES && (info.mode & 0o077) !== 0;

/** The data folder and its files: ours, writable, and nobody else's business. */
export function dataFolderCheck(folder: string): Check {
  return {
    id: "data",
    async run(): Promise<Finding> {
      const info = await lookAt(folder);
      if (info === null) return await toBeMade(folder);
      if (!info.isDirectory()) return fault(`${folder} is no folder`, "choose another one with --data-dir DIR");
      if (!(await isWritable(folder))) return fault(`${folder} cannot be written`, `take it over (sudo chown -R "$USER" ${quoted(folder)}), or choose another one with --data-dir DIR`);
      if (isOpen(info)) return warning(`${folder} can be read by others on this machine`, `chmod 700 ${quoted(folder)}`);
      const open: string[] = [];
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        const file = entry.isFile() ? await lookAt(path) : null;
        if (file !== null && isOpen(file)) open.push(path);
      }
      if (open.length > 0) return warning(`${open.length} file${open.length === 1 ? "" : "s"} in ${folder} can be read by others`, `chmod 600 ${open.slice(0, SHOWN_FILES).map(quoted).join(" ")}${open.length > SHOWN_FILES ? " …" : ""}`);
      return ok(folder);
    },
  };
}

async function toBeMade(folder: string): Promise<Finding> {
  const parent = await nearestParent(folder);
  return (await isWritable(parent)) ? ok(`${folder} will be made at the first start`) : fault(`${folder} cannot be made: ${parent} cannot be written`, "choose another folder with --data-dir DIR");
}

/** The folder in which something will be made first, if it is to stand at this path. */
async function nearestParent(path: string): Promise<string> {
  let parent = dirname(path);
  while ((await lookAt(parent)) === null && dirname(parent) !== parent) parent = dirname(parent);
  return parent;
}

async function isWritable(folder: string): Promise<boolean> {
  return (await lookAt(folder))?.isDirectory() === true && (await access(folder, constants.W_OK | constants.X_OK).then(() => true, () => false));
}

/** Harnesses and replays of large sessions need it. */
export function temporaryFolderCheck(): Check {
  return {
    id: "tmp",
    async run(): Promise<Finding> {
      const folder = tmpdir();
      try {
        const made = await mkdtemp(join(folder, "foldcast-doctor-"));
        await writeFile(join(made, "file"), "x");
        await rm(made, { recursive: true });
        return ok(folder);
      } catch (error) {
        return fault(`${folder} cannot be written: ${error instanceof Error ? error.message : String(error)}`, "free some space there, or set TMPDIR to another folder");
      }
    },
  };
}

/** A folder of saved sessions that somebody named. */
export function sessionsFolderCheck(folder: string): Check {
  return {
    id: "sessions",
    async run(): Promise<Finding> {
      const info = await lookAt(folder);
      if (info?.isDirectory() === true) return ok(folder);
      return fault(info === null ? `there is no folder ${folder}` : `${folder} is no folder`, SESSIONS_ADVICE);
    },
  };
}

/** Where it cannot be written, nobody is told what would stand there. Null where it goes to standard error. */
export function logFileCheck(file: string | null): Check {
  return {
    id: "log",
    async run(): Promise<Finding | null> {
      if (file === null) return null;
      const advice = "choose another file with --log-file FILE";
      const info = await lookAt(file);
      if (info?.isDirectory() === true) return fault(`the log file ${file} is a folder`, advice);
      if (info !== null) return (await access(file, constants.W_OK).then(() => true, () => false)) ? ok(file) : fault(`the log file ${file} cannot be written`, advice);
      return (await isWritable(await nearestParent(file))) ? ok(`${file} will be made`) : fault(`the log file ${file} cannot be made`, advice);
    },
  };
}

/** Null where no token is asked. */
export function tokenFileCheck(file: string | null): Check {
  return {
    id: "token",
    async run(): Promise<Finding | null> {
      if (file === null) return null;
      const info = await lookAt(file);
      if (info === null) return fault(`there is no token file ${file}`, `(umask 077; openssl rand -hex 32 > ${quoted(file)})`);
      if (info.size === 0) return fault(`the token file ${file} is empty`, `(umask 077; openssl rand -hex 32 > ${quoted(file)})`);
      return isOpen(info) ? warning(`the token in ${file} can be read by others on this machine`, `chmod 600 ${quoted(file)}`) : ok(file);
    },
  };
}

/** Ready to be pasted into a shell. */
function quoted(path: string): string {
  return /^[\w./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
