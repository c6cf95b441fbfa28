const SPACE = 32;
const DOT = 46;
const SLASH = 47;

/** Path components that say little about a project and are passed over for display. */
const DULL_COMPONENTS: ReadonlySet<string> = new Set(["", "build", "dist", "node_modules", "src"]);

/**
 * Short display form of a path: its last telling component (`webview/src` gives `webview`). A path of dull
 * components alone stays whole, without trailing slashes.
 */
export function displayName(path: string): string {
  const slashed = path.includes("\\") ? path.replaceAll("\\", "/") : path;
  let end = slashed.length;
  while (end > 0 && slashed.charCodeAt(end - 1) === SLASH) end--;
  for (let stop = end; stop > 0;) {
    const slash = slashed.lastIndexOf("/", stop - 1);
    const component = slashed.slice(slash + 1, stop);
    if (!DULL_COMPONENTS.has(component)) return component;
    stop = slash;
  }
  return slashed.slice(0, end);
}

/** Joins a `cd` target or an operand to the directory that earlier `cd`s led to, without tidying. */
export function joinDirectory(base: string | null, path: string): string {
  if (base === null || base === "" || isAbsolute(path) || isWindowsAbsolute(path)) return path;
  return base.endsWith("/") ? base + path : `${base}/${path}`;
}

/**
 * Absolute POSIX path of `path` seen from `cwd`, with `.`, `..` and doubled slashes resolved by text alone.
 * Tabs and line breaks vanish, since the server passes the result through a URL. From a directory that is
 * not a POSIX one (Windows, or none known) the path is joined as it stands.
 */
export function resolvePath(cwd: string, path: string): string {
  if (!isAbsolute(cwd)) {
    if (cwd === "" || isAbsolute(path) || isWindowsAbsolute(path)) return path;
    return cwd + (cwd.includes("\\") ? "\\" : "/") + path;
  }
  const joined = isAbsolute(path) ? path : `${cwd}/${path}`;
  if (isTidy(joined)) return joined;
  const kept: string[] = [];
  for (const component of joined.split("/")) {
    if (component === "..") kept.pop();
    else if (component !== "" && component !== ".") kept.push(component);
  }
  return `/${kept.join("/")}`.replace(/[\t\n\r]/g, "");
}

/** True when an absolute path surely needs no work; paths with hidden names take the long way. */
function isTidy(path: string): boolean {
  for (let index = 0; index < path.length; index++) {
    const code = path.charCodeAt(index);
    if (code < SPACE) return false;
    if (code !== SLASH) continue;
    const next = path.charCodeAt(index + 1);
    if (next === SLASH || next === DOT || Number.isNaN(next)) return false;
  }
  return true;
}

/** Whether two untidied paths have equal components; a leading `.` counts, inner ones do not. */
export function samePath(left: string, right: string): boolean {
  return left === right || componentsOf(left) === componentsOf(right);
}

function componentsOf(path: string): string {
  const components = path.split("/");
  const kept = components.filter((component, index) => component !== "" && (component !== "." || index === 0));
  return (isAbsolute(path) ? "/" : "") + kept.join("/");
}

function isAbsolute(path: string): boolean {
  return path.charCodeAt(0) === SLASH;
}

function isWindowsAbsolute(path: string): boolean {
  return /^(?:[A-Za-z]:\\|\\\\)/.test(path);
}
