/** Thrown for a configuration that can never work; the message tells the operator what to change. */
export class FeishuConfigError extends Error {
  override readonly name = "FeishuConfigError";
}

const known: Readonly<Record<string, string>> = { feishu: "https://open.feishu.cn", lark: "https://open.larksuite.com" };

/**
 * The address of REST calls and of the long connection's discovery: `feishu` (the default), `lark`, or any http(s) URL
 * with an optional path. Credentials, queries and fragments in it are refused, since they would end up in logs.
 */
export function resolveBaseUrl(value: string | undefined): string {
  const text = value?.trim() ?? "";
  if (text === "") return known["feishu"]!;
  const named = known[text.toLowerCase()];
  if (named !== undefined) return named;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) throw new FeishuConfigError("the Feishu base URL must be feishu, lark or an http(s) URL");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") throw new FeishuConfigError("the Feishu base URL must have no credentials, query or fragment");
  return url.href.replace(/\/+$/, "");
}

/** The SDK starts no connection for any other form of app id, and says so only in its log. */
export function checkAppId(appId: string): void {
  if (!/^cli_[0-9a-fA-F]{16}$/.test(appId)) throw new FeishuConfigError("the Feishu app id must be cli_ and 16 hexadecimal digits, as the developer console shows it");
}
