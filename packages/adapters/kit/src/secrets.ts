const SECRET_NAME = /TOKEN|SECRET|PASSWORD|API_?KEY|AUTH|CREDENTIAL/i;
const SECRET_TEXT = /\b(?:sk|key|ghp|gho|xox[abp]|glpat)[-_][A-Za-z0-9_-]{8,}|(?<=\b(?:bearer|basic)\s)[A-Za-z0-9._~+/=-]{6,}|(?<=\/\/[^/\s:@]{1,200}:)[^@\s/]+(?=@)/gi;
const MARK = "[redacted]";
/** Shorter values are words of every day. */
const SHORTEST = 8;

/** The text without what looks like a credential, and without the values of variables that hold one. */
export function withoutSecrets(text: string, env: Readonly<Record<string, string | undefined>>): string {
  let clean = text;
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value.length >= SHORTEST && SECRET_NAME.test(name)) clean = clean.replaceAll(value, MARK);
  }
  return clean.replace(SECRET_TEXT, MARK);
}
