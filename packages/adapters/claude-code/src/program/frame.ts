import { isJsonObject } from "@foldcast/protocol-core/wire";
import { filledString, objectOf } from "@foldcast/adapter-kit";
import { type SessionRecord } from "../history/record.ts";

/** One line of the program's stdout. Nothing is promised about any member. */
export type Frame = Readonly<Record<string, unknown>>;

/** A question of the program, which waits for a `control_response` with its id. */
export interface ProgramRequest {
  id: string;
  subtype: string;
  request: Frame;
}

export function requestOf(frame: Frame): ProgramRequest | null {
  const request = objectOf(frame["request"]);
  const [id, subtype] = [filledString(frame["request_id"]), filledString(request["subtype"])];
  return frame["type"] === "control_request" && id !== null && subtype !== null ? { id, subtype, request } : null;
}

/** The ids of our own messages that a frame is an answer to; empty for what nobody asked for. */
export function messageIds(frame: Frame): string[] {
  const ids = frame["user_message_uuids"];
  if (Array.isArray(ids)) return ids.filter((id) => typeof id === "string");
  const one = filledString(frame["user_message_uuid"]);
  return one === null ? [] : [one];
}

/** What belongs to a sub-agent stands in that one's own file. */
export function isOfSubAgent(frame: Frame): boolean {
  return typeof frame["parent_tool_use_id"] === "string";
}

/**
 * A frame as the line that the program writes into the session file for it: the same record, with the stream's names
 * for some members (2.1.332, compared id by id).
 */
export function savedLine(frame: Frame): SessionRecord {
  const [meta] = Array.isArray(frame["tool_result_meta"]) ? frame["tool_result_meta"].filter(isJsonObject) : [];
  return {
    ...frame,
    ...(frame["aborted"] === true ? { isAbortedMidStream: true } : {}),
    ...(frame["is_api_error_message"] === true ? { isApiErrorMessage: true, apiErrorStatus: frame["api_error_status"], apiErrorType: frame["api_error_type"] } : {}),
    ...(frame["isSynthetic"] === true ? { isMeta: true } : {}),
    ...(frame["tool_use_result"] === undefined ? {} : { toolUseResult: frame["tool_use_result"] }),
    ...(typeof meta?.["non_execution_kind"] === "string" ? { toolDenialKind: meta["non_execution_kind"] } : {}),
  };
}
