import { anthropic } from "./anthropic.ts";
import { responses } from "./responses.ts";
import type { Dialect } from "./dialect.ts";

export const dialects: readonly Dialect[] = [anthropic, responses];

