import { existsSync } from "node:fs";
import { join } from "node:path";
import { cruise } from "dependency-cruiser";

/**
 * Runs dependency-cruiser over the tree with the given rules.
 * @param {string} root absolute
 * @param {import("dependency-cruiser").IConfiguration} configuration
 * @returns {Promise<{ path: string, rule: string, message: string }[]>}
 */
export async function checkImports(root, configuration) {
  const { enhancedResolveOptions, ...options } = configuration.options ?? {};
  const folders = ["packages", "tools", "tests"].filter((folder) => existsSync(join(root, folder)));
  const result = await cruise(
    folders,
    { ...options, baseDir: root, ruleSet: { forbidden: configuration.forbidden ?? [] }, validate: true },
    enhancedResolveOptions,
  );
  if (typeof result.output === "string") throw new Error(`dependency-cruiser answered text: ${result.output}`);
  return result.output.summary.violations.map((violation) => ({
    path: violation.from,
    rule: violation.rule.name,
    message: `imports ${violation.to}`,
  }));
}
