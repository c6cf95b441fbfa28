import { anthropic } from "./anthropic.ts";
import { chatCompletions } from "./chat-completions.ts";
import { responses } from "./responses.ts";
import type { Dialect } from "./dialect.ts";

export const dialects: readonly Dialect[] = [anthropic, responses, chatCompletions];

