import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface RecordedLine {
  dir: string;
  msg: Record<string, unknown>;
}

/**
 * Plays the output of a recorded run: up to each message that was sent then, it waits for a message now. What was
 * answered or interrupted in between came back in the recording already.
 */
export function playRecording(path: string): void {
  const lines = readFileSync(path, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedLine);
  const write = (frame: object): void => void process.stdout.write(`${JSON.stringify(frame)}\n`);
  const ends = lines.some(({ dir, msg }) => dir === "out" && msg["type"] === "result");
  let at = 0;
  const goOn = (): void => {
    for (at += 1; at < lines.length && !isMessage(lines[at]!); at += 1) if (lines[at]!.dir === "out" && lines[at]!.msg["type"] !== "control_response") write(lines[at]!.msg);
    // A run that was killed.
    if (at === lines.length && !ends) process.exitCode = 143;
    if (at === lines.length && !ends) process.stdin.destroy();
  };
  while (at < lines.length && !isMessage(lines[at]!)) at += 1;
  createInterface({ input: process.stdin }).on("line", (text) => {
    const frame = JSON.parse(text) as Record<string, unknown>;
    if (frame["type"] === "control_request") write({ type: "control_response", response: { subtype: "success", request_id: frame["request_id"], response: {} } });
    else if (frame["type"] === "user") goOn();
  }).on("close", () => process.exit(0));
}

function isMessage({ dir, msg }: RecordedLine): boolean {
  return dir === "in" && msg["type"] === "user";
}
