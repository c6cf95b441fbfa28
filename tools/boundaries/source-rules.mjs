import { posix } from "node:path";
import { isTestFile, packageFolder } from "./sources.mjs";
import { literalText, parse, walk } from "./syntax.mjs";

/** Values that every ECMAScript 2023 realm has; anything else that a core file uses freely comes from its surroundings. */
const LANGUAGE_GLOBALS = new Set(
  `AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError
   FinalizationRegistry Float32Array Float64Array Infinity Int16Array Int32Array Int8Array JSON Map Math NaN Number Object
   Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError URIError Uint16Array
   Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet arguments decodeURI decodeURIComponent encodeURI
   encodeURIComponent isFinite isNaN parseFloat parseInt undefined`.split(/\s+/),
);

/** Folders where the protocol's own name is no harness name. */
const CODEX_IS_THE_PROTOCOL = /^packages\/(?:protocol-core\/src\/wire|host-runtime\/src\/native)\//;

/**
 * @typedef {{ path: string, line: number, rule: string, message: string }} Fault
 */

/**
 * Checks one file against the rules that need its syntax.
 * @param {{ path: string, text: string, harnessIds: ReadonlySet<string> }} input path relative to the root
 * @returns {Fault[]}
 */
export function checkSource({ path, text, harnessIds }) {
  const source = parse(path, text);
  /** @type {Fault[]} */
  const faults = [];
  const report = (/** @type {any} */ node, /** @type {string} */ rule, /** @type {string} */ message) =>
    faults.push({ path, line: node.loc.start.line, rule, message });

  const isProduct = path.includes("/src/") && !isTestFile(path);
  const isCore = path.startsWith("packages/protocol-core/") && isProduct;
  const mayNameHarness = path.startsWith("packages/adapters/") || isTestFile(path);

  walk(source, (node, parent) => {
    const text = literalText(node);
    if (text !== undefined && isModuleSpecifier(node, parent)) checkSpecifier(path, text, node, report);
    else if (text !== undefined) {
      if (!mayNameHarness) checkHarnessName(path, text, node, harnessIds, report);
      if (isProduct && /(?:^|\/)shared\//.test(text)) {
        report(node, "product-never-reads-shared", `"${text}" names a folder outside of the product`);
      }
    }
    if (isCore) checkClockAndChance(node, report);
  });
  if (isCore) checkFreeNames(source, report);
  return faults;
}

/** @typedef {(node: any, rule: string, message: string) => void} Report */

function isModuleSpecifier(/** @type {any} */ node, /** @type {any} */ parent) {
  return parent !== null && (parent.source === node || (parent.type === "TSImportType" && parent.argument === node));
}

/** @param {string} path @param {string} specifier @param {any} node @param {Report} report */
function checkSpecifier(path, specifier, node, report) {
  if (specifier.startsWith(".")) {
    const home = packageFolder(path);
    const target = posix.join(posix.dirname(path), specifier);
    // A harness that has no adapter yet is one file of data, and no package has a name for it.
    const isToolMap = home === "packages/adapters/registry" && /^packages\/adapters\/[^/]+\/tools\.ts$/.test(target);
    if (target !== home && !target.startsWith(`${home}/`) && !isToolMap) {
      report(node, "no-relative-import-across-packages", `"${specifier}" leaves ${home}; import the package by its name`);
    }
  } else if (/^(?:@foldcast\/[^/]+|foldcast)\/(?:src|dist)(?:\/|$)/.test(specifier)) {
    report(node, "no-deep-import", `"${specifier}" reaches into a package; import one of its exports`);
  }
}

/** @param {string} path @param {string} text @param {any} node @param {ReadonlySet<string>} ids @param {Report} report */
function checkHarnessName(path, text, node, ids, report) {
  const name = text.split("/", 1)[0] ?? "";
  // A model id names its harness just as well: `<harness>/<model>`.
  if (!ids.has(name) || !/^[^/\s]+(?:\/[^/\s]+)?$/.test(text)) return;
  if (name === "codex" && CODEX_IS_THE_PROTOCOL.test(path)) return;
  report(node, "harness-names-in-adapters-only", `"${text}" names a harness; ask its manifest or its capabilities`);
}

/** @param {any} node @param {Report} report */
function checkClockAndChance(node, report) {
  const isDate = (/** @type {any} */ callee) => callee.type === "Identifier" && callee.name === "Date";
  if (node.type === "NewExpression" && isDate(node.callee) && node.arguments.length === 0) {
    report(node, "core-no-clock-or-chance", "`new Date()` reads the clock; take the time as an argument");
  } else if (node.type === "CallExpression" && isDate(node.callee)) {
    report(node, "core-no-clock-or-chance", "`Date()` reads the clock; take the time as an argument");
  } else if (node.type === "MemberExpression" && node.object.type === "Identifier") {
    const name = `${node.object.name}.${node.property.name ?? node.property.value}`;
    if (name === "Date.now" || name === "Math.random") {
      report(node, "core-no-clock-or-chance", `\`${name}\` differs from run to run; take the value as an argument`);
    }
  }
}

/** @param {ReturnType<typeof parse>} source @param {Report} report */
function checkFreeNames({ scopeManager }, report) {
  for (const reference of scopeManager.globalScope?.through ?? []) {
    const { name } = reference.identifier;
    if (reference.isValueReference && !LANGUAGE_GLOBALS.has(String(name))) {
      report(reference.identifier, "core-no-ambient-global", `\`${String(name)}\` is not part of the language; hand it in`);
    }
  }
}
