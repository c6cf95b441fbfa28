export { maskMail } from "./markdown/inline.ts";
export { safeMarkdown } from "./markdown/safe.ts";
export { cutMarkdown } from "./markdown/split.ts";
