import fc from "fast-check";

/** One JSON text in many dresses: escapes where none are needed, white space, numbers that no double can hold. */
const scalar = fc.oneof(
  fc.constantFrom("null", "true", "false", "0", "-0", "1e400", "9007199254740993", "123456789012345678901234567890", "1.0", "0.10", '"\\u0041\\/"', '"\\ud83d\\ude00"', '"{\\"id\\":1}"', '"\\\\"', '"\\\\\\""', '""'),
  fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.string({ maxLength: 6 }).map(escaped),
);
const space = fc.constantFrom("", "", "", " ", "\t", "  ");
/** Names that mean something elsewhere in a frame. */
const name = fc.constantFrom("id", "method", "params", "result", "threadId", "model", "cursor", "a", "", "\\u0069d", "thr\\u0065adId", "constructor", "__proto__");

function escaped(text: string): string {
  return `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;
}

const { value } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalar, tie("object"), tie("list")),
  object: fc.array(fc.tuple(name, space, tie("value")), { maxLength: 5 }).map((members) => `{${members.map(([key, gap, inner]) => `${gap}"${key}"${gap}:${gap}${inner}`).join(",")}}`),
  list: fc.array(tie("value"), { maxLength: 5 }).map((values) => `[${values.join(",")}]`),
}));

const shuffled = (members: readonly string[]): fc.Arbitrary<string> =>
  fc.tuple(fc.shuffledSubarray([...members], { minLength: members.length }), space).map(([inOrder, gap]) => `{${gap}${inOrder.join(`${gap},${gap}`)}${gap}}`);

/** A frame that is none of ours: requests, notifications and answers with members in any order, some of them twice. */
export const oddFrame: fc.Arbitrary<Buffer> = fc.tuple(
  fc.constantFrom("x/y", "turn/start", "thread/read", "thread/future", "item/x", "a\\u002fb"), fc.constantFrom("1", '"s"', "9007199254740993", '"fc:1"', '"\\u0031"'),
  value, value, fc.boolean(), fc.boolean(),
).chain(([method, id, params, more, isRequest, isDoubled]) => shuffled([
  `"method":"${method}"`, `"params":{"inner":${params}}`, `"later":${more}`,
  ...(isRequest ? [`"id":${id}`] : []), ...(isDoubled ? [`"later":${params}`] : []),
])).map((text) => Buffer.from(text));

/** A request for one of our threads, its members written and ordered in any way, with look-alikes at deeper places. */
export function oddRequest(method: string, threadId: string): fc.Arbitrary<Buffer> {
  const decoy = "\"threadId\":\"01234567-89ab-7def-8123-456789abcdef\"";
  const key = fc.constantFrom("threadId", "thread\\u0049d", "\\u0074hreadId");
  const id = fc.constantFrom(threadId, threadId.toUpperCase(), threadId.replaceAll("-", ""), `{${threadId}}`, `urn:uuid:${threadId}`, threadId.replace(/^./, (first) => `\\u${first.charCodeAt(0).toString(16).padStart(4, "0")}`));
  return fc.tuple(key, id, value, fc.boolean()).chain(([name_, id_, inner, isDoubled]) =>
    // Of two with one name the last counts.
    shuffled([`"other":${inner}`, `"nested":{${decoy}}`, `"list":[{${decoy}}]`]).chain((rest) => {
      const params = `${rest.slice(0, -1)},${isDoubled ? `${decoy},` : ""}"${name_}":"${id_}"}`;
      return shuffled([`"method":"${method}"`, '"id":7', `"params":${params}`, `"threadId":"x"`]);
    })).map((text) => Buffer.from(text));
}
