export * from "./model.ts";
export * from "./fallback.ts";
export * from "./payload.ts";
export * from "./answer.ts";
export * from "./server-request.ts";
export * from "./server-reply.ts";
