import { chatLimits, choice, file, flag, folder, list, milliseconds, number, port, program, text, wholeNumber } from "../options/kinds.ts";
import type { OptionTable } from "../options/option.ts";

export const DEFAULT_PORT = 4610;

/**
 * The one table of settings: flags, environment, configuration file, help and documentation all come from it. It loads
 * nothing of the server, so that help is quick; a test holds its defaults against the server's own.
 */
export const SERVER_OPTIONS = {
  "data-dir": {
    kind: folder(), value: "DIR", key: "data_dir", defaultWords: "`~/.local/share/foldcast`, or what the system has for it",
    does: "where threads are kept, and what harnesses keep of their own; one server at a time",
  },
  harness: { kind: list(text("the id of a harness", "harness")), value: "ID", key: "harnesses", does: "only this harness; may be repeated", defaultWords: "all" },
  sessions: {
    kind: list(folder()), value: "DIR", key: "sessions", does: "list and open the saved sessions in this folder too; may be repeated", defaultWords: "none",
  },
  discover: {
    kind: choice("on", "off"), value: "on|off", key: "discover", default: "on",
    does: "list and open the sessions that coding agents saved on this machine",
  },
  "max-sessions": {
    kind: wholeNumber("a number from 1 on", 1, 1_000_000), value: "N", key: "max_sessions", default: 10_000, does: "of those only so many, the newest",
  },
  "max-session-age-days": {
    kind: wholeNumber("a whole number of days, 0 = any age", 0, 36_500), value: "DAYS", key: "max_session_age_days", default: 0,
    does: "of them only those written in the last so many days; 0 = any",
  },
  scenario: { kind: file("the path of a file or a folder"), value: "FILE|DIR", key: "scenario", does: "what the scripted harness plays, beside what is built in" },
  "scenario-speed": { kind: number("a number from 0 on", 0), value: "X", key: "scenario_speed", does: "2 plays scenarios twice as fast, 0 without delays", defaultWords: "1" },
  "scenario-process": { kind: flag, key: "scenario_process", does: "play each scripted session in a process of its own" },
  dialect: {
    kind: choice("auto", "default", "desktop"), value: "NAME", key: "dialect", default: "auto", does: "what clients get: `auto` goes by the client's name",
  },
  "no-native": { kind: flag, key: "no_native", does: "start no Codex behind this server: only threads of other harnesses" },
  "codex-bin": { kind: program(), value: "FILE", key: "codex_bin", does: "the Codex program", defaultWords: "`codex` on the search path, or where installers put it" },
  "interaction-expiry-ms": {
    kind: milliseconds, value: "MS", key: "interaction_expiry_ms", default: 30 * 60_000, defaultWords: "1800000, 30 minutes",
    does: "deny what nobody answers after so many milliseconds",
  },
  "idle-session-ms": {
    kind: wholeNumber("a whole number of milliseconds, 0 = never", 0, 2_147_483_647), value: "MS", key: "idle_session_ms", default: 10 * 60_000, defaultWords: "600000, 10 minutes",
    does: "let a harness's process go when its thread was not used for so many milliseconds; 0 = never",
  },
  "parallel-starts": {
    kind: wholeNumber("a number from 1 to 64", 1, 64), value: "N", key: "parallel_starts", default: 2, does: "how many harness processes may start at a time",
  },
  "ws-auth": { kind: choice("capability-token"), value: "MODE", key: "ws_auth", does: "clients must send `Authorization: Bearer <token>`", defaultWords: "no token is asked" },
  "ws-token-file": { kind: file(), value: "FILE", key: "ws_token_file", does: "the file that holds that token" },
  "log-level": { kind: choice("debug", "info", "warn", "error"), value: "LEVEL", key: "log_level", default: "warn", does: "what is logged" },
  "log-file": { kind: file(), value: "FILE", key: "log_file", does: "where the log goes", defaultWords: "standard error" },
} as const satisfies OptionTable;

/** What only a server on a WebSocket needs. */
export const LISTEN_OPTIONS = {
  host: {
    kind: text("an address"), value: "ADDRESS", key: "host", default: "127.0.0.1", does: "address to listen on; any other than loopback needs a token",
  },
  port: { kind: port, value: "N", key: "port", default: DEFAULT_PORT, does: "port to listen on; 0 = any free one" },
  feishu: { kind: flag, key: "feishu.enabled", does: "talk in Feishu, too, with the settings of `[feishu]`; what goes wrong there leaves the server alone" },
} as const satisfies OptionTable;

const CONFIG_OPTION = { config: { kind: file(), value: "FILE", does: "the configuration file", defaultWords: "`~/.config/foldcast/config.toml`" } } as const satisfies OptionTable;

const feishuTime = (key: string, value: number, words: string, does: string) => ({ kind: milliseconds, key, default: value, defaultWords: words, does }) as const;

/** The table `[feishu]`, with twins in the environment and without flags: nobody types them again and again. */
export const FEISHU_SETTINGS = {
  "feishu-app-id": { kind: text("the id of an app"), key: "feishu.app_id", does: "the app, `cli_…`" },
  "feishu-app-secret-file": { kind: file(), key: "feishu.app_secret_file", does: "the file that holds its secret" },
  "feishu-base-url": { kind: text("feishu, lark or an address"), key: "feishu.base_url", defaultWords: "`feishu`", does: "`feishu`, `lark`, or an address" },
  "feishu-proxy": { kind: text("environment, none or an address"), key: "feishu.proxy", default: "environment", does: "the way to Feishu: `environment` (HTTPS_PROXY, NO_PROXY), `none`, or the address of a proxy" },
  "feishu-allow-users": { kind: list(text("the id of a person")), key: "feishu.allow_users", does: "who may talk to the bot" },
  "feishu-allow-chats": { kind: list(text("the id of a chat")), key: "feishu.allow_chats", does: "groups whose members may" },
  "feishu-approvers": { kind: list(text("the id of a person")), key: "feishu.approvers", does: "who may answer approvals beside the person that started the turn" },
  "feishu-claim": { kind: flag, key: "feishu.claim", does: "the bot belongs to the first person who writes to it" },
  "feishu-groups": { kind: choice("mention", "all"), key: "feishu.groups", default: "mention", does: "which messages of a group count" },
  "feishu-default-model": { kind: text("the id of a model"), key: "feishu.default_model", does: "the model of new threads", defaultWords: "the server's" },
  "feishu-cwd": { kind: folder(), key: "feishu.cwd", does: "where agents work", defaultWords: "the current folder" },
  "feishu-folders": { kind: list(folder()), key: "feishu.folders", does: "where else agents may work" },
  "feishu-models": { kind: list(text("the id of a model or of a harness")), key: "feishu.models", does: "which models may be used, by their ids or their harness's", defaultWords: "all" },
  "feishu-chats": { kind: chatLimits, key: "feishu.chats", does: "by a chat's id: `cwd`, `folders` and `models` that hold in it in place of those above", defaultWords: "none" },
  "feishu-locale": { kind: choice("zh", "en"), key: "feishu.locale", default: "zh", does: "the language of the cards" },
  "feishu-write-interval-ms": feishuTime("feishu.write_interval_ms", 500, "500", "between two writes of a running card"),
  "feishu-reopen-ms": feishuTime("feishu.reopen_ms", 8 * 60_000, "480000, 8 minutes", "streaming is opened anew after this time"),
  "feishu-retry-ms": feishuTime("feishu.retry_ms", 15_000, "15000", "pause before an answer that was not confirmed is tried again"),
  "feishu-stale-ms": feishuTime("feishu.stale_ms", 30 * 60_000, "1800000, 30 minutes", "messages older than this are answered, not carried out"),
  "feishu-idle-ms": feishuTime("feishu.idle_ms", 10_000, "10000", "a running card is drawn anew after this time without news"),
  "feishu-ping-after-ms": {
    kind: wholeNumber("a whole number of milliseconds, 0 = never", 0, 2_147_483_647), key: "feishu.ping_after_ms", default: 5 * 60_000, defaultWords: "300000, 5 minutes",
    does: "who started a turn that ran so long gets a message when it is over; 0 = never",
  },
  "feishu-ledger-age-ms": feishuTime("feishu.ledger_age_ms", 14 * 86_400_000, "1209600000, 14 days", "how long is known what was seen and delivered"),
} as const satisfies OptionTable;

/** Everything that can stand in the configuration file. */
export const ALL_SETTINGS = { ...LISTEN_OPTIONS, ...SERVER_OPTIONS, ...FEISHU_SETTINGS } as const satisfies OptionTable;

const JSON_OPTION = { json: { kind: flag, does: "print JSON, for scripts" } } as const satisfies OptionTable;

/** Where a client of a running server finds it. */
export const CLIENT_OPTIONS = {
  server: { kind: text("an address `ws://HOST:PORT`"), value: "URL", does: "a running server", defaultWords: "the one that has the data folder, else one in this process" },
  "token-file": { kind: file(), value: "FILE", does: "the file that holds the token which that server wants" },
} as const satisfies OptionTable;

export const SERVE_OPTIONS = { ...LISTEN_OPTIONS, ...SERVER_OPTIONS, ...CONFIG_OPTION } as const satisfies OptionTable;

const ignored = { kind: text(), hidden: true, does: "a flag of Codex that does nothing here" } as const;
/** It decides how the real Codex behind us works. */
const handedOn = { kind: text(), hidden: true, handedOn: true, does: "a flag of Codex, handed on to it" } as const;
const handedOnFlag = { ...handedOn, kind: flag } as const;

export const APP_SERVER_OPTIONS = {
  listen: { kind: text(), value: "URL", does: "stdio://, ws://IP:PORT, unix://PATH, or off", default: "stdio://" },
  stdio: { kind: flag, does: "the same as --listen stdio://" },
  config: { kind: list(text()), value: "KEY=VALUE", short: "c", handedOn: true, does: "of Codex; with the key model and a model of ours, the default model (the file is chosen by FOLDCAST_CONFIG here)" },
  enable: { kind: list(text()), value: "FEATURE", handedOn: true, does: "the same as -c features.FEATURE=true" },
  disable: { kind: list(text()), value: "FEATURE", handedOn: true, does: "the same as -c features.FEATURE=false" },
  ...SERVER_OPTIONS,
  "ws-token-sha256": ignored, "ws-shared-secret-file": ignored, "ws-issuer": ignored, "ws-audience": ignored, "ws-max-clock-skew-seconds": ignored,
  "startup-client-info": handedOn, "cloud-skills-snapshot": handedOn, "code-mode-host": handedOn,
  "analytics-default-enabled": handedOnFlag, "startup-sign-out": handedOnFlag, "strict-config": handedOnFlag,
} as const satisfies OptionTable;

export const CHAT_OPTIONS = {
  ...CLIENT_OPTIONS,
  model: { kind: text("the id of a model"), value: "ID", does: "as in foldcast models", defaultWords: "the first one that is ready" },
  thread: { kind: text("the id of a thread"), value: "ID", does: "go on with this thread" },
  cwd: { kind: folder(), value: "DIR", does: "where the agent works", defaultWords: "here" },
  approve: { kind: choice("ask", "all", "none"), value: "WHAT", default: "ask", does: "ask for every approval, give all of them, or none; questions are always asked" },
  json: { kind: flag, does: "print JSON lines: the server's frames as they come, and the chat's own events" },
  ...SERVER_OPTIONS,
  ...CONFIG_OPTION,
} as const satisfies OptionTable;

export const MODELS_OPTIONS = { ...JSON_OPTION, ...SERVER_OPTIONS, ...CONFIG_OPTION } as const satisfies OptionTable;

export const REPLAY_OPTIONS = {
  json: { kind: flag, does: "JSON Lines: session, turn, diagnostic and error lines, a total last" },
  items: { kind: flag, does: "with --json, each turn with all its items" },
  harness: { kind: text("the id of a harness", "harness"), value: "ID", does: "read the files as this harness's, without a look at them" },
} as const satisfies OptionTable;

export const DOCTOR_OPTIONS = { ...JSON_OPTION, ...LISTEN_OPTIONS, ...SERVER_OPTIONS, ...CONFIG_OPTION } as const satisfies OptionTable;

export const THREADS_OPTIONS = {
  cwd: { kind: folder(), value: "DIR", does: "list: only threads of this folder", defaultWords: "all" },
  search: { kind: text(), value: "TEXT", does: "list: only threads with these words in their name or first prompt" },
  archived: { kind: flag, does: "list: the archived threads" },
  limit: { kind: wholeNumber("a whole number, 0 = all", 0, 1_000_000), value: "N", default: 25, does: "at most so many threads, or turns of show, the newest; 0 = all" },
  ...JSON_OPTION,
  ...CLIENT_OPTIONS,
  ...SERVER_OPTIONS,
  ...CONFIG_OPTION,
} as const satisfies OptionTable;

export const DESKTOP_OPTIONS = {
  door: { kind: choice("cli", "websocket"), value: "DOOR", default: "cli", does: "how Desktop gets here: `cli` is started by it, `websocket` runs from login on" },
  model: { kind: text("the id of a model"), value: "ID", does: "a model of ours as the default of its threads", defaultWords: "Codex's own" },
  ...JSON_OPTION,
  "data-dir": SERVER_OPTIONS["data-dir"],
  "codex-bin": SERVER_OPTIONS["codex-bin"],
  ...CONFIG_OPTION,
} as const satisfies OptionTable;

export const FEISHU_OPTIONS = {
  demo: { kind: flag, does: "no app, no network: a stand-in for Feishu on this machine, with a page that shows the chat and its cards" },
  "demo-port": { kind: port, value: "N", default: 0, does: "port of that page; 0 = any free one" },
  "app-env": { kind: file(), value: "FILE", does: "smoke: a file with the app's FOLDCAST_FEISHU_… variables" },
  ...CLIENT_OPTIONS,
  ...SERVER_OPTIONS,
  ...CONFIG_OPTION,
} as const satisfies OptionTable;

export const NO_OPTIONS = {} as const satisfies OptionTable;
