import { z } from "zod";

/** The building blocks of `params.ts`; every `error` is what the real server says that it expected there. */

export const text = z.string({ error: "a string" });
export const path = z.string({ error: "path string" });
export const flag = z.boolean({ error: "a boolean" });
export const u32 = z.int({ error: "u32" }).min(0, { error: "u32" }).max(4_294_967_295, { error: "u32" });
export const i64 = z.int({ error: "i64" });
export const list = <T extends z.ZodType>(item: T) => z.array(item, { error: "a sequence" });
export const map = z.record(z.string(), z.unknown(), { error: "a map" });
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) => z.enum(values, { error: "string or map" });
export const struct = <T extends z.ZodRawShape>(name: string, shape: T) => z.looseObject(shape, { error: `struct ${name}` });

/** Members that many requests have. */
export const page = { cursor: text.nullish(), limit: u32.nullish() };
export const thread = { threadId: text };
