import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonRecord, objectOf } from "../../json.ts";

/** A prompt of a recorded conversation, with all that the agent sent until it answered. */
export interface RecordedPrompt {
  /** `session/update`s as they are, a permission request as its call, and what the client did: in their order. */
  steps: ({ update: JsonRecord } | { asked: JsonRecord; declined: boolean } | { cancel: true })[];
  /** Result of the prompt; null = an error, or none. */
  answer: JsonRecord | null;
}

/** Paths of the recorded traffic of agents that speak ACP, in folders named `<agent>-acp`. */
export function acpRecordings(data: string): string[] {
  return readdirSync(data).filter((folder) => folder.endsWith("-acp")).flatMap((folder) =>
    readdirSync(join(data, folder)).filter((name) => name.endsWith(".jsonl")).map((name) => join(data, folder, name)));
}

/** The prompts of a recording; what is repeated while a session is loaded counts as one of them. */
export function promptsOf(file: string): RecordedPrompt[] {
  const lines = readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as { dir?: string; msg?: unknown });
  const messages = lines.flatMap(({ dir, msg }) => (dir === "client" || dir === "agent" ? [{ byAgent: dir === "agent", message: objectOf(msg) }] : []));
  const answers = new Map(messages.filter(({ byAgent, message }) => !byAgent && message["method"] === undefined).map(({ message }) => [message["id"], objectOf(message["result"])]));
  const prompts: RecordedPrompt[] = [];
  let open: { id: unknown; prompt: RecordedPrompt } | null = null;
  for (const { byAgent, message } of messages) {
    const { method, id } = message;
    if (!byAgent && (method === "session/prompt" || method === "session/load")) {
      open = { id, prompt: { steps: [], answer: null } };
      prompts.push(open.prompt);
    } else if (!byAgent && method === "session/cancel") open?.prompt.steps.push({ cancel: true });
    else if (byAgent && method === "session/update") open?.prompt.steps.push({ update: objectOf(objectOf(message["params"])["update"]) });
    else if (byAgent && method === "session/request_permission") open?.prompt.steps.push({ asked: objectOf(objectOf(message["params"])["toolCall"]), declined: isDecline(objectOf(message["params"]), answers.get(id)) });
    else if (byAgent && method === undefined && open !== null && id === open.id) {
      open.prompt.answer = "result" in message ? objectOf(message["result"]) : null;
      open = null;
    }
  }
  return prompts;
}

function isDecline(params: JsonRecord, answer: JsonRecord | undefined): boolean {
  const chosen = objectOf(answer?.["outcome"])["optionId"];
  const options = Array.isArray(params["options"]) ? params["options"].map(objectOf) : [];
  return String(options.find(({ optionId }) => optionId === chosen)?.["kind"]).startsWith("reject");
}
