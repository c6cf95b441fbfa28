import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import type { CommandSpec } from "../command.ts";
import type { OptionTable } from "../options/option.ts";
import { APP_SERVER_OPTIONS, CHAT_OPTIONS, DEFAULT_PORT, DESKTOP_OPTIONS, DOCTOR_OPTIONS, FEISHU_OPTIONS, MODELS_OPTIONS, NO_OPTIONS, REPLAY_OPTIONS, SERVE_OPTIONS, THREADS_OPTIONS } from "./options.ts";

/** Keeps the types of the options between a command's row and its code. */
function command<O extends OptionTable>(spec: CommandSpec<O>): CommandSpec {
  return spec;
}

/** Every command, in the order in which help lists them. Completion and help are made from it. */
export const COMMANDS: Readonly<Record<string, CommandSpec>> = {
  serve: command({
    summary: "serve the Codex app-server protocol on a WebSocket",
    about: "Serves the Codex app-server protocol on a WebSocket until Ctrl+C. Says on standard error how to connect.",
    options: SERVE_OPTIONS,
    examples: [
      ["foldcast serve", `then: codex --remote ws://127.0.0.1:${DEFAULT_PORT}`],
      ["foldcast serve --port 0 --sessions ~/old-logs", "any free port; saved sessions of a folder in the resume picker"],
      ["foldcast serve --host 0.0.0.0 --ws-auth capability-token --ws-token-file ~/.foldcast-token", "for other machines"],
    ],
    notes: `--feishu talks in Feishu from the same process (foldcast feishu does it in one of its own, and its help has the
settings). A channel that cannot start, or breaks, is told of on standard error and tried again; the server goes on.

The first line on stdout, and the only one, is for programs:
  {"event":"listening","url":"ws://127.0.0.1:PORT","pid":N,"version":"…","protocol":"${PROTOCOL_VERSION}"}`,
    load: () => import("../commands/serve.ts"),
  }),
  "app-server": command({
    summary: "the same on standard streams, in the place of `codex app-server`",
    about: `Stands in for \`codex app-server\`: one JSON object a line on standard streams, until stdin ends.
Where another foldcast has the data folder, this one passes its client on to that one. Codex's own flags go to the Codex behind it.`,
    options: APP_SERVER_OPTIONS,
    lenient: true,
    examples: [
      ["foldcast app-server", ""],
      ["foldcast app-server -c model=scripted/demo", "a model of ours as the default"],
      ["foldcast app-server --listen unix:///tmp/foldcast.sock", ""],
    ],
    load: () => import("../commands/app-server.ts"),
  }),
  chat: command({
    summary: "talk with an agent on the terminal or through a pipe",
    about: `Talks with an agent on the terminal, or through a pipe: one prompt a line.
An approval or a question is answered by the next line: a number, approve, deny (with words for the agent
behind it), always, or the line that it shows.
Lines that begin with a slash are commands of the chat (/help); // sends one to the agent.`,
    strayWord: "prompts are read from the input, not from the command line",
    options: CHAT_OPTIONS,
    examples: [
      ["foldcast chat --model scripted/demo", ""],
      ["foldcast chat --server ws://127.0.0.1:4610", "on a running server"],
      ["printf 'do the demo\\n1\\n' | foldcast chat --json --model scripted/approval", "a script"],
    ],
    notes: `When the input ends, what is still asked is declined, and the chat ends with its last turn.
Exit code: 0, or 1 when a line of a pipe could not be sent or the last turn failed.`,
    load: () => import("../commands/chat.ts"),
  }),
  threads: command({
    summary: "list, show, archive and rename threads",
    verbs: {
      list: { operands: "", does: "threads, those that changed last first" },
      show: { operands: "ID", does: "the prompts of a thread, and how each turn ended: its final answer" },
      archive: { operands: "ID…", does: "take threads out of the list; nothing is deleted" },
      unarchive: { operands: "ID…", does: "bring them back" },
      rename: { operands: "ID NAME", does: "give a thread a name" },
    },
    about: `For people and scripts. Asks the server that has the data folder, if there is one, and else looks into it itself.
The beginning of an id is enough where it is no other's.`,
    options: THREADS_OPTIONS,
    examples: [
      ["foldcast threads list --cwd . --search test", ""],
      ["foldcast threads show 0198c1", "its prompts and final answers"],
      ["foldcast threads rename 0198c1 'The flaky test'", ""],
      ["foldcast threads list --search demo --json | jq -r '.[].id' | xargs foldcast threads archive", ""],
    ],
    notes: `--json, times in Unix seconds:
  list  [{"id","name","preview","cwd","model","status","path","createdAt","updatedAt","archived"}]
  show  {"thread","turns":[{"id","prompt","status","error","startedAt","durationMs","items","fold","finalAnswer"}]}
  the others, one a line: {"id",…}
Exit code: 0, 1 when there is no such thread, 4 when the owner of the data folder does not answer.`,
    load: () => import("../commands/threads.ts"),
  }),
  doctor: command({
    summary: "look at what is installed here, and say what to do about the rest",
    about: `Looks at Node, the Codex program, each harness, the port, the folders and the store as \`serve\` with the same options
would use them, and at the Feishu app where one is set. Starts no model turn and changes nothing.`,
    options: DOCTOR_OPTIONS,
    examples: [["foldcast doctor", ""], ["foldcast doctor --json | jq '.checks[] | select(.status != \"ok\")'", "for scripts"]],
    notes: `Exit code: 0, or 1 when there is a fault; a warning is none.
--json: {"version","protocol","status","checks":[{"id","status":"ok|warning|fault","found","next","ms"}]}`,
    load: () => import("../commands/doctor.ts"),
  }),
  models: command({
    summary: "list the models on offer",
    about: "Lists the models that clients can choose, in the order of their pickers. The first one that is ready is the default.",
    options: MODELS_OPTIONS,
    examples: [["foldcast models", ""], ["foldcast models --json | jq -r '.[] | select(.ready).id'", "for scripts"]],
    notes: `--json: [{"id","harness","displayName","ready","reason","efforts"}]`,
    load: () => import("../commands/models.ts"),
  }),
  replay: command({
    summary: "show how saved sessions fold",
    operands: "PATH",
    completes: "file",
    about: "Reads saved sessions of coding agents and says, turn by turn, how Codex folds them.\nPATH is a session file, or a folder that is searched for them.",
    options: REPLAY_OPTIONS,
    examples: [
      ["foldcast replay ~/.claude/projects", "all sessions below a folder"],
      ["foldcast replay session.jsonl --json | jq 'select(.type==\"turn\").finalAnswer'", ""],
    ],
    notes: "Exit code: 0 all read, 1 some files could not be read, 2 no session found or wrong usage.",
    load: () => import("../commands/replay.ts"),
  }),
  desktop: command({
    summary: "let Codex Desktop start foldcast in the place of codex, or undo that",
    verbs: {
      enable: { operands: "", does: "set it up; what it writes and sets is said" },
      disable: { operands: "", does: "undo exactly that" },
      status: { operands: "", does: "what is set up, and whether it is as it was left" },
      codex: { operands: "", does: "the real Codex program that Desktop would get" },
    },
    about: `Sets the variable at which Codex Desktop looks for its server, for this session and for later ones, and nothing of
Desktop itself. With the door cli it starts a small script in the place of codex, which hands all but the app-server
to the real one; with the door websocket it connects to a foldcast that runs from login on.`,
    options: DESKTOP_OPTIONS,
    examples: [["foldcast desktop enable", ""], ["foldcast desktop enable --model scripted/demo", "with a model of ours as the default"], ["foldcast desktop status --json", ""], ["foldcast desktop disable", ""]],
    notes: `On Windows it prints the steps and changes nothing.
Exit code: 0, or 1 when a file is not as it was written, or something that is not ours is in its place.`,
    load: () => import("../commands/desktop.ts"),
  }),
  feishu: command({
    summary: "talk with agents in Feishu (Lark): one folding card a turn",
    operands: "[setup|smoke]",
    completes: ["setup", "smoke"],
    about: `Connects a Feishu or Lark bot to a server: each turn is one card that folds, and the right people press approve.
  setup   the steps in Feishu's console, and what of them can be checked from here
  smoke   one scripted turn in a temporary group of a real app`,
    options: FEISHU_OPTIONS,
    examples: [
      ["foldcast feishu --demo", "try it without an app, in the browser"],
      ["foldcast feishu setup", "before the first time"],
      ["FOLDCAST_FEISHU_APP_ID=cli_… FOLDCAST_FEISHU_APP_SECRET_FILE=~/secret foldcast feishu --server ws://127.0.0.1:4610", ""],
    ],
    notes: `Environment, all with FOLDCAST_FEISHU_ in front:
  APP_ID, APP_SECRET_FILE, BASE_URL (feishu, lark or an address), PROXY, LOCALE (zh, en)
  ALLOW_USERS, ALLOW_CHATS, APPROVERS, CLAIM=1 (the first who writes owns the bot), GROUPS (mention, all)
  DEFAULT_MODEL, MODELS, CWD, FOLDERS, CHATS (what holds in one chat alone, as JSON)
  in milliseconds: WRITE_INTERVAL_MS, REOPEN_MS, RETRY_MS, STALE_MS, IDLE_MS, PING_AFTER_MS, LEDGER_AGE_MS
Each is also a key of [feishu] in the configuration file, CHATS a table for each: [feishu.chats.oc_…]
The first line on stdout, and the only one, is for programs: {"event":"feishu-ready","appId"}`,
    load: () => import("../commands/feishu.ts"),
  }),
  scenario: command({
    summary: "check a scenario file of the scripted harness",
    verbs: { check: { operands: "FILE", does: "say whether the scripted harness can play it, and what is wrong where" } },
    completes: "file",
    about: "The JSON schema of the format: foldcast schema scenario",
    options: NO_OPTIONS,
    examples: [["foldcast scenario check demo.json", ""]],
    notes: "Exit code: 0 it can be played, 1 it has faults, 2 it cannot be read.",
    load: () => import("../commands/scenario.ts"),
  }),
  schema: command({
    summary: "print JSON schemas of what foldcast adds",
    operands: "[extension|interaction|scenario]",
    completes: ["extension", "interaction", "scenario"],
    about: "Prints JSON schemas of what foldcast adds to the Codex protocol, and of scenario files; all, or one by name.",
    options: NO_OPTIONS,
    examples: [["foldcast schema scenario > scenario.schema.json", "for an editor"]],
    load: () => import("../commands/schema.ts"),
  }),
  completion: command({
    summary: "print what a shell needs to complete foldcast's commands and options",
    verbs: {
      bash: { operands: "", does: "for bash: source <(foldcast completion bash) in ~/.bashrc" },
      zsh: { operands: "", does: "for zsh: source <(foldcast completion zsh) in ~/.zshrc, after compinit" },
      fish: { operands: "", does: "for fish: foldcast completion fish > ~/.config/fish/completions/foldcast.fish" },
    },
    about: "",
    options: NO_OPTIONS,
    examples: [["source <(foldcast completion bash)", "for this shell"], ["echo 'source <(foldcast completion bash)' >> ~/.bashrc", "for all later ones"]],
    load: () => import("../commands/completion.ts"),
  }),
  "__scripted-child": command({
    summary: "", about: "Not for people: a scripted session in a process of its own.", options: NO_OPTIONS, examples: [], hidden: true,
    load: () => import("../commands/scripted-child.ts"),
  }),
};
