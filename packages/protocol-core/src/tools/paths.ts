/** True for `/a`, `C:\a`, `C:/a` and `\\server`. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith("\\\\");
}

/** A path made absolute against `cwd` and lexically normalised; other absolute forms stay as they are. */
export function resolvePath(cwd: string, path: string): string {
  if (path.startsWith("file://")) return resolvePath(cwd, pathOfFileUrl(path));
  if (!path.startsWith("/") && (isAbsolutePath(path) || !cwd.startsWith("/"))) return path;
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** How a reader sees a path: relative inside the working directory (`.` for itself), else as it is. */
export function displayPath(cwd: string, path: string): string {
  const end = cwd.endsWith("/") ? cwd.length - 1 : cwd.length;
  if (end > 0 && path.startsWith(cwd.slice(0, end)) && (path.length === end || path[end] === "/")) {
    let start = end;
    while (path[start] === "/") start++;
    return start === path.length ? "." : path.slice(start);
  }
  return path.length > 2 && path.startsWith("./") ? path.slice(2) : path;
}

/** Last component, for names of files. */
export function baseName(path: string): string {
  const trimmed = path.replace(/[\\/]+$/, "");
  return trimmed.slice(Math.max(trimmed.lastIndexOf("/"), trimmed.lastIndexOf("\\")) + 1) || path;
}

function pathOfFileUrl(url: string): string {
  const path = url.slice("file://".length);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
