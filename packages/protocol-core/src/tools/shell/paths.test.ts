import { expect, it } from "vitest";
import { displayName, joinDirectory, resolvePath, samePath } from "./paths.ts";

it.each([
  ["web/opal", "opal"],
  ["web/src", "web"],
  ["web/node_modules/dist/", "web"],
  ["./build", "."],
  ["src", "src"],
  ["dist/build//", "dist/build"],
  ["web\\src\\opal.c", "opal.c"],
  ["../..", ".."],
  ["/", ""],
  ["", ""],
])("%j is shown as %j", (path, name) => expect(displayName(path)).toBe(name));

it.each([
  ["/w", "a/b", "/w/a/b"],
  ["/w", "./a/../b//c/", "/w/b/c"],
  ["/w/x", "../../../a", "/a"],
  ["/w", "/a/./b", "/a/b"],
  ["/w", "//a", "/a"],
  ["/w", ".hidden", "/w/.hidden"],
  ["/w/", "a", "/w/a"],
  ["/", "a", "/a"],
  ["/w", "", "/w"],
  ["/w", "/", "/"],
  ["/w", "~/a%20b?#", "/w/~/a%20b?#"],
  ["/w", "C:\\a", "/w/C:\\a"],
  ["/w", "a\tb\nc\rd", "/w/abcd"],
  ["C:\\w", "a/b", "C:\\w\\a/b"],
  ["C:\\w", "D:\\a", "D:\\a"],
  ["", "a/b", "a/b"],
])("from %j, %j is %j", (cwd, path, resolved) => expect(resolvePath(cwd, path)).toBe(resolved));

it.each([
  [null, "a", "a"],
  ["", "a", "a"],
  ["a", "b", "a/b"],
  ["a/", "b", "a/b"],
  ["a", "/b", "/b"],
  ["a", "C:\\b", "C:\\b"],
  ["a", "\\\\host\\b", "\\\\host\\b"],
  ["a", "C:b", "a/C:b"],
])("a directory %j and %j join to %j", (base, path, joined) => expect(joinDirectory(base, path)).toBe(joined));

it("compares paths by component, a leading dot included", () => {
  expect(samePath("a/./b", "a//b/")).toBe(true);
  expect(samePath("./a", "a")).toBe(false);
  expect(samePath("/a", "a")).toBe(false);
});
