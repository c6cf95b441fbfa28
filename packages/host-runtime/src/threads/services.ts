import type { HarnessCatalogue } from "../harness/catalogue.ts";
import type { StartGate } from "../harness/start-gate.ts";
import type { InteractionPolicy } from "../interactions/policy.ts";
import type { Logger } from "../log/logger.ts";
import type { Schedule } from "../schedule.ts";
import type { PatientStore } from "../store/patient.ts";

/** What every thread needs of the host. */
export interface ThreadServices {
  now: () => number;
  newId: () => string;
  log: Logger;
  store: PatientStore;
  catalogue: HarnessCatalogue;
  starts: StartGate;
  schedule: Schedule;
  /** Milliseconds after which a session that is not used is let go; null = never. */
  idleSessionMs: number | null;
  interactions: InteractionPolicy;
  /** To every initialized connection. */
  broadcast(method: string, params: object): void;
}
