export { FakeFeishu, fakeApp, startFakeFeishu, type FakeOptions, type Say } from "./fake-feishu.ts";
export { controlNames, remoteFake, type ControlName, type RemoteFake } from "./control.ts";
export { planFaults, seeded, type Fault, type FaultKind, type FiredFault, type PlannedFault, type PlanOptions } from "./faults.ts";
export { cardText, type ReaderCard, type ReaderChat, type ReaderMessage } from "./reader.ts";
export type { Click, ClickResult } from "./chat/click-service.ts";
export type { Advice, AdviceNote, Broken, Rule } from "./rule-book.ts";
export { CardFault, cardBytes, checkCard, strictCardLimits, type CardFacts, type CardLimits } from "./cards/card-rules.ts";
export type { CallRecord } from "./rest/rest-server.ts";
export { startDemo, type Demo, type DemoOptions } from "./demo/start-demo.ts";
