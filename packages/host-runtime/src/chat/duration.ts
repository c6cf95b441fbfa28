import type { Locale } from "@foldcast/protocol-core/interaction";

/** "Worked for 12s", "Worked for 3m 5s": whole seconds, as Desktop's divider has them. */
export function workedFor(ms: number, locale: Locale): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const parts = [hours > 0 ? `${hours}h` : "", minutes > 0 ? `${minutes}m` : "", seconds % 60 > 0 ? `${seconds % 60}s` : ""].filter((part) => part !== "");
  return `${locale === "zh" ? "用时" : "Worked for"} ${parts.join(" ")}`;
}
