/** A JSON schema node as the generator writes it. */
export type SchemaNode = Record<string, unknown>;

const COMPOSITION = ["allOf", "anyOf", "oneOf"] as const;
const MAPS = ["properties", "definitions", "$defs", "patternProperties"] as const;
const SINGLE = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"] as const;

export function isNode(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A copy of a schema in which every object refuses members that it does not list. The generated schemas leave
 * objects open, so that a misspelt member would pass. Free-form maps stay free: they carry `additionalProperties`.
 *
 * An object that has members of its own beside a composition (`ThreadItem` has its times there) is closed in the
 * branches of the composition, which therefore have to know its members: `inherited`. Throws where that is not
 * possible.
 */
export function closeSchema(schema: unknown, inherited: SchemaNode = {}): unknown {
  if (Array.isArray(schema)) return schema.map((node) => closeSchema(node));
  if (!isNode(schema)) return schema;
  const copy: SchemaNode = { ...schema };
  for (const keyword of MAPS) {
    const map = schema[keyword];
    if (isNode(map)) copy[keyword] = Object.fromEntries(Object.entries(map).map(([name, node]) => [name, closeSchema(node)]));
  }
  for (const keyword of SINGLE) if (keyword in schema) copy[keyword] = closeSchema(schema[keyword]);
  const known: SchemaNode = { ...inherited, ...(isNode(copy["properties"]) ? copy["properties"] : {}) };
  const hasMembers = Object.keys(known).length > 0;
  const compositions = COMPOSITION.filter((keyword) => Array.isArray(schema[keyword]));
  for (const keyword of compositions) {
    const branches = schema[keyword] as unknown[];
    const refers = branches.some((branch) => isNode(branch) && "$ref" in branch);
    if ((refers && hasMembers) || (keyword === "allOf" && branches.length > 1) || (compositions.length > 1 && hasMembers)) {
      throw new Error(`cannot be closed: ${JSON.stringify(schema).slice(0, 300)}`);
    }
    copy[keyword] = branches.map((branch) => closeSchema(branch, known));
  }
  const describesObject = schema["type"] === "object" || hasMembers;
  if (describesObject && compositions.length === 0 && !("additionalProperties" in schema)) {
    copy["properties"] = known;
    copy["additionalProperties"] = false;
  }
  const tag = tagOf(schema["oneOf"]);
  if (tag !== undefined) copy["discriminator"] = { propertyName: tag };
  return copy;
}

/** The member that tells the branches of a `oneOf` apart, so that a fault is reported for the branch that was meant. */
function tagOf(branches: unknown): string | undefined {
  if (!Array.isArray(branches) || branches.length < 2) return undefined;
  return ["type", "method"].find((name) =>
    branches.every((branch) => {
      const tag = isNode(branch) && isNode(branch["properties"]) ? branch["properties"][name] : undefined;
      const required = isNode(branch) && Array.isArray(branch["required"]) && branch["required"].includes(name);
      return required && isNode(tag) && Array.isArray(tag["enum"]);
    }),
  );
}
