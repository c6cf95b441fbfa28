import type { QuestionSpec } from "@foldcast/protocol-core/harness";
import { filledString, objectsOf, stringOf } from "@foldcast/adapter-kit";

/** Questions of `AskUserQuestion` as both programs record them; `q0`, `q1` … as Kimi's own form names them. */
export function questionsOf(value: unknown): QuestionSpec[] {
  return objectsOf(value).map((question, index) => ({
    id: `q${index}`,
    header: filledString(question["header"]),
    question: stringOf(question["question"]) ?? "",
    multiSelect: question["multi_select"] === true || question["multiSelect"] === true,
    options: objectsOf(question["options"]).map((option) => ({ label: stringOf(option["label"]) ?? "", description: filledString(option["description"]) })),
  }));
}
