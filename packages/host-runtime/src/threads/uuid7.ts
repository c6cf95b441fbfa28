import { randomFillSync } from "node:crypto";

/**
 * A UUID of version 7 (RFC 9562): sorts by time. Ids of one process made in the same millisecond keep their order
 * too, since 12 bits after the time count up. `now` in Unix milliseconds.
 */
export function uuidv7(now: number): string {
  if (now > lastTime) {
    lastTime = now;
    counter = randomStart();
  } else if (++counter > 0xfff) {
    lastTime += 1;
    counter = 0;
  }
  randomFillSync(random);
  const time = lastTime.toString(16).padStart(12, "0");
  const tail = random.toString("hex");
  const variant = ((random[0] ?? 0) & 0x3f | 0x80).toString(16).padStart(2, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, "0")}-${variant}${tail.slice(2, 4)}-${tail.slice(4)}`;
}

let lastTime = 0;
let counter = 0;
const random = Buffer.alloc(8);

/** Half of the range stays free for counting up. */
function randomStart(): number {
  randomFillSync(random);
  return ((random[0] ?? 0) << 8 | (random[1] ?? 0)) & 0x7ff;
}
