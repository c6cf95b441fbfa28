import { expect, test } from "vitest";
import { answeredKey, leadingMethod } from "./envelope.ts";

test.each([
  ['{"method":"item/started","params":{}}', "item/started"],
  ['{"method":"","params":{}}', ""],
  ['{ "method" : "a" }', "a"],
  ['{"method":"\\u0061b"}', "ab"],
  ['{"m\\u0065thod":"a"}', "a"],
  ['{"method":"\u00e9"}', "\u00e9"],
  [`{"method":"${"x".repeat(300)}","a":1}`, "x".repeat(300)],
  ['{"id":1,"method":"a"}', null],
  ['{"method":1}', null],
  ['{"method":"a', null],
  ['{"method":', null],
  ["[]", null],
  ["", null],
])("the method that %.40s begins with", (frame, method) => {
  expect(leadingMethod(Buffer.from(frame))).toBe(method);
});

test.each([
  ['{"id":1,"result":{}}', "1"],
  ['{"id":"a","error":{"code":1}}', '"a'],
  ['{"result":{},"id":"\\u0061"}', '"a'],
  ['{"id":9007199254740993,"result":null}', "9007199254740993"],
  ['{"method":"a","id":1}', null],
  ['{"id":1,"method":"a"}', null],
  ['{"method":"a","params":{"id":2}}', null],
  ['{"result":{}}', null],
  ["no", null],
])("the request that %.40s answers", (frame, key) => {
  expect(answeredKey(Buffer.from(frame))).toBe(key);
});
