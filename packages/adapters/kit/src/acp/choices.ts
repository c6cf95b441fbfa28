import { methods } from "@agentclientprotocol/sdk";
import type { SessionOptions, SessionState } from "@foldcast/protocol-core/harness";
import { type Choice, configOf, type SessionConfig, stateOfConfig } from "./config.ts";
import type { AcpDialect } from "./dialect.ts";
import { type JsonRecord, objectOf } from "../json.ts";

type Selection = Partial<Omit<SessionOptions, "cwd">>;

export interface ChoicesPort {
  /** Of the agent, for a person. */
  name: string;
  dialect: AcpDialect;
  /** A request about the session; its id is added. */
  readonly request: (method: string, params: object) => Promise<unknown>;
  readonly report: (state: SessionState) => void;
}

/** Model, thinking and mode of a session: what can be chosen, what is, and how it is changed. */
export class AcpChoices {
  readonly #port: ChoicesPort;
  #config: SessionConfig = { model: null, thinking: null, mode: null };

  constructor(port: ChoicesPort) {
    this.#port = port;
  }

  get config(): SessionConfig {
    return this.#config;
  }

  /** The answer that opened the session. */
  opened(answer: JsonRecord): void {
    this.#config = configOf(answer);
    this.#port.report(stateOfConfig(this.#config));
  }

  /** The agent says that something is chosen now. */
  told(state: SessionState): void {
    const { model, thinking, mode } = this.#config;
    this.#config = { model: now(model, state.model), thinking: now(thinking, state.thinking), mode: now(mode, state.permissionMode) };
  }

  /** Chooses what is asked for and not chosen yet. Rejects with a readable message for a model that the agent does not have. */
  async select({ model = null, thinking = null, permissionMode = null }: Selection): Promise<void> {
    const { name, dialect } = this.#port;
    const { session } = methods.agent;
    if (model !== null) {
      const models = this.#config.model;
      if (models === null) throw new Error(`${name} does not let its model be chosen.`);
      if (!offers(models, model)) throw new Error(`${name} has no model ${model}; it has ${models.values.map(({ id }) => id).join(", ")}.`);
      if (models.current !== model) await this.#choose("model", models, model, "session/set_model", { modelId: model });
    }
    // Clients choose among the names of another harness too; what is not meant for this one changes nothing.
    const levels = this.#config.thinking;
    if (thinking !== null && levels !== null && levels.current !== thinking && offers(levels, thinking)) await this.#choose("thinking", levels, thinking, session.setConfigOption, {});
    const modes = this.#config.mode;
    const mode = permissionMode !== null && dialect.modeOf !== undefined ? dialect.modeOf(permissionMode) : permissionMode;
    if (mode !== null && modes !== null && modes.current !== mode && offers(modes, mode)) await this.#choose("mode", modes, mode, session.setMode, { modeId: mode });
  }

  /** `older`: the method of an agent without config options. */
  async #choose(what: keyof SessionConfig, choice: Choice, value: string, older: string, olderParams: object): Promise<void> {
    const { configId } = choice;
    const { request, report } = this.#port;
    const answer = configId === null ? await request(older, olderParams) : await request(methods.agent.session.setConfigOption, { configId, value });
    const { configOptions } = objectOf(answer);
    this.#config = { ...this.#config, [what]: { ...choice, current: value } };
    // Another model may have other levels of thinking.
    const told = configOf({ configOptions });
    this.#config = { model: told.model ?? this.#config.model, thinking: told.thinking ?? this.#config.thinking, mode: told.mode ?? this.#config.mode };
    report(stateOfConfig(this.#config));
  }
}

function offers({ values }: Choice, value: string): boolean {
  return values.some(({ id }) => id === value);
}

function now(choice: Choice | null, current: string | null | undefined): Choice | null {
  return choice === null || current === undefined ? choice : { ...choice, current };
}
