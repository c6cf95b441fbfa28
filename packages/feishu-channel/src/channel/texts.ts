import type { Locale } from "@foldcast/protocol-core/tools";

/** Everything that the channel says by itself. */
interface ChannelTexts {
  refused(openId: string): string;
  claimed: string;
  stale: string;
  unsupported(kind: string): string;
  unknownCommand(name: string): string;
  help: string;
  commands: string;
  buttons: Readonly<Record<"new" | "threads" | "model" | "stop" | "status" | "history" | "fork", string>>;
  /** Of a turn without an answer. */
  states: Readonly<Record<"inProgress" | "completed" | "interrupted" | "failed", string>>;
  newThread: string;
  noThread: string;
  notRunning: string;
  stopping: string;
  queued: string;
  renamed(name: string): string;
  needName: string;
  forked: string;
  cwdIs(cwd: string): string;
  cwdNext(cwd: string): string;
  cwdRefused(folders: string): string;
  modelIs(model: string): string;
  noModel(id: string): string;
  modelNextThread(model: string): string;
  models: string;
  threads: string;
  noThreads: string;
  resumed(title: string): string;
  noSuchThread: string;
  notHere: string;
  status(lines: { thread: string; model: string; cwd: string; running: boolean }): string;
  history: string;
  failed(why: string): string;
  notTaken: string;
  open: string;
  lost: string;
  settledBy(name: string): string;
  outcomes: Readonly<Record<"approve" | "deny" | "always" | "submit" | "answered" | "skipped" | "expired" | "interrupted" | "elsewhere" | "unknown", string>>;
  toast: Readonly<Record<"accepted" | "late" | "unknown" | "expired" | "refused" | "invalid" | "working" | "partial", string>>;
  waitsFor: string;
  waitsForApproval: string;
  expires(minutes: number): string;
  goodFor(minutes: number): string;
  submit: string;
  choose: string;
  write: string;
  other: string;
}

export const CHANNEL_TEXTS: Readonly<Record<Locale, ChannelTexts>> = {
  zh: {
    refused: (openId) => `你还没有使用这个机器人的权限，请把你的 ID 发给管理员：${openId}`,
    claimed: "你现在是这个机器人的所有者。",
    stale: "这条消息是很久以前发的，没有执行。如果还需要，请重新发送。",
    unsupported: (kind) => `暂不支持这种消息：${kind}。`,
    unknownCommand: (name) => `没有命令 /${name}。发送 /help 查看全部命令；以 // 开头可发送普通文本。`,
    help: [
      "/new 开始新会话", "/threads 列出会话，点按钮恢复", "/model 选择模型", "/stop 中断当前回合", "/status 当前状态", "/history 最近的回合", "/fork 分叉当前会话", "/rename 名称 重命名", "/cwd 目录 更换工作目录",
      "//文本 发送以斜杠开头的文本",
    ].join("\n"),
    commands: "命令",
    buttons: { new: "新会话", threads: "会话列表", model: "选择模型", stop: "中断", status: "状态", history: "最近的回合", fork: "分叉" },
    states: { inProgress: "运行中", completed: "没有最终回复", interrupted: "已中断", failed: "失败" },
    newThread: "下一条消息将开始新会话。",
    noThread: "这里还没有会话，发送一条消息即可开始。",
    notRunning: "当前没有正在运行的回合。",
    stopping: "正在中断。",
    queued: "当前回合还在运行，这条消息会在它结束后执行。",
    renamed: (name) => `已重命名为「${name}」。`,
    needName: "请给出名称：/rename 新名称",
    forked: "已分叉，后续消息进入新会话。",
    cwdIs: (cwd) => `目录：${cwd}`,
    cwdNext: (cwd) => `目录：${cwd}。下一条消息会在这里开始新会话。`,
    cwdRefused: (folders) => `这里只能使用以下目录：${folders}`,
    modelIs: (model) => `模型：${model}`,
    noModel: (id) => `没有模型 ${id}。发送 /model 查看全部。`,
    modelNextThread: (model) => `已选择 ${model}，将从新会话开始使用。`,
    models: "选择模型",
    threads: "选择会话",
    noThreads: "还没有会话。",
    resumed: (title) => `已切换到会话：${title}`,
    noSuchThread: "没有这个会话。发送 /threads 查看列表。",
    notHere: "这里不能使用那个会话。",
    status: ({ thread, model, cwd, running }) => `会话：${thread}\n模型：${model}\n目录：${cwd}\n${running ? "运行中" : "空闲"}`,
    history: "最近的回合",
    failed: (why) => `操作失败：${why}`,
    notTaken: "文件没能下载（可能过大），没有作为输入。",
    open: "打开",
    lost: "连接服务器失败，稍后会自动重试。",
    settledBy: (name) => `处理人：${name}`,
    outcomes: { approve: "已批准", deny: "已拒绝", always: "已设为总是批准", submit: "已提交", answered: "已处理", skipped: "已跳过", expired: "已过期", interrupted: "回合已结束", elsewhere: "已在别处处理", unknown: "已失效" },
    toast: { accepted: "已处理", late: "已经处理过了", unknown: "这个请求已失效", expired: "已过期", refused: "你没有权限处理这个请求", invalid: "这个回答不符合要求", working: "正在处理", partial: "已记录，还有问题未回答" },
    waitsFor: "等待回答",
    waitsForApproval: "等待审批",
    expires: (minutes) => `${minutes} 分钟内无人处理将自动拒绝`,
    goodFor: (minutes) => `${minutes} 分钟内有效`,
    submit: "提交",
    choose: "请选择",
    write: "请输入",
    other: "其他回答",
  },
  en: {
    refused: (openId) => `You may not use this bot yet. Its operator can let you in; your id is ${openId}`,
    claimed: "You are the owner of this bot now.",
    stale: "This message is too old and was not carried out. Send it again if it is still needed.",
    unsupported: (kind) => `Messages of this kind cannot be used: ${kind}.`,
    unknownCommand: (name) => `There is no command /${name}. /help lists all; a text that begins with a slash is sent with //.`,
    help: [
      "/new begin a new thread", "/threads list threads; a button resumes one", "/model choose a model", "/stop interrupt the turn", "/status what runs here", "/history the last turns", "/fork fork this thread",
      "/rename NAME", "/cwd FOLDER where agents work", "//text send a text that begins with a slash",
    ].join("\n"),
    commands: "Commands",
    buttons: { new: "New thread", threads: "Threads", model: "Model", stop: "Stop", status: "Status", history: "History", fork: "Fork" },
    states: { inProgress: "Running", completed: "No final answer", interrupted: "Interrupted", failed: "Failed" },
    newThread: "The next message begins a new thread.",
    noThread: "There is no thread here yet; send a message to begin one.",
    notRunning: "No turn is running.",
    stopping: "Interrupting.",
    queued: "A turn is still running; this message is carried out when it has ended.",
    renamed: (name) => `Renamed to “${name}”.`,
    needName: "Give a name: /rename NAME",
    forked: "Forked; what follows goes to the new thread.",
    cwdIs: (cwd) => `Folder: ${cwd}`,
    cwdNext: (cwd) => `Folder: ${cwd}. The next message begins a new thread there.`,
    cwdRefused: (folders) => `Only these folders can be used here: ${folders}`,
    modelIs: (model) => `Model: ${model}`,
    noModel: (id) => `There is no model ${id}. /model lists all.`,
    modelNextThread: (model) => `Chose ${model}, for the next new thread.`,
    models: "Choose a model",
    threads: "Choose a thread",
    noThreads: "There are no threads yet.",
    resumed: (title) => `Now on the thread: ${title}`,
    noSuchThread: "There is no such thread. /threads lists them.",
    notHere: "that thread is not for this chat",
    status: ({ thread, model, cwd, running }) => `Thread: ${thread}\nModel: ${model}\nFolder: ${cwd}\n${running ? "Running" : "Idle"}`,
    history: "Recent turns",
    failed: (why) => `That did not work: ${why}`,
    notTaken: "The file could not be taken; it may be too large.",
    open: "Open",
    lost: "The server cannot be reached; it is tried again.",
    settledBy: (name) => `by ${name}`,
    outcomes: { approve: "Approved", deny: "Denied", always: "Always approved", submit: "Submitted", answered: "Answered", skipped: "Skipped", expired: "Expired", interrupted: "The turn has ended", elsewhere: "Answered elsewhere", unknown: "No longer valid" },
    toast: { accepted: "Done", late: "It was answered already", unknown: "This request is no longer valid", expired: "It has expired", refused: "You may not answer this", invalid: "That is no answer to this", working: "Working on it", partial: "Noted; there are more questions" },
    waitsFor: "Waiting for an answer",
    waitsForApproval: "Waiting for an approval",
    goodFor: (minutes) => `Good for ${minutes} minutes`,
    submit: "Submit",
    choose: "Choose",
    write: "Write",
    expires: (minutes) => `Denied by itself after ${minutes} minutes`,
    other: "Another answer",
  },
};
