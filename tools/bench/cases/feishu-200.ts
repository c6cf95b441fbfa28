import type { BenchCase } from "../case.ts";
import { FeishuLoad } from "../feishu/load.ts";

const TURNS = 200;
let load: FeishuLoad | null = null;

/**
 * Milliseconds from the host's last event of a turn to the card that shows its end, of 200 turns that run at the same
 * time in one process of the channel, each in a chat of its own. The stand-in for Feishu answers at once.
 */
const bench: BenchCase = {
  n: TURNS,
  unit: "ms",
  growthFrom: TURNS / 10,
  runs: { warmUp: 0, measured: 1 },
  async prepare() {
    load ??= await FeishuLoad.start();
  },
  run: (n) => load!.play(n),
  more: () => load!.costs(TURNS),
  async close() {
    await load?.stop();
  },
};
export default bench;
