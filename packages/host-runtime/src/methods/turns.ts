import type { HarnessAdapter } from "@foldcast/protocol-core/harness";
import { parseInteractionCommand } from "@foldcast/protocol-core/interaction";
import type { InteractionCommand } from "@foldcast/protocol-core/interaction";
import { invalidRequest, notSupported } from "@foldcast/protocol-core/wire";
import { TurnInterruptParams, TurnStartParams, TurnSteerParams } from "@foldcast/protocol-core/wire/params";
import type { Host } from "../host.ts";
import type { Connection } from "../rpc/connection.ts";
import { Reply } from "../rpc/reply.ts";
import type { ThreadActor } from "../threads/actor.ts";
import { resolveModel } from "../threads/binding.ts";
import { mergeSettings, requestedModel, sameSettings } from "../threads/settings.ts";
import type { ThreadSettings } from "../threads/settings.ts";
import type { ThreadInput } from "../threads/thread-input.ts";
import { titleAnswer } from "../threads/title.ts";
import { acceptedTurn } from "../threads/wire-thread.ts";
import { answererOf } from "./interactions.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";
import { loadedThread } from "./thread-lookup.ts";
import { hasImage, toUserInput } from "./user-input.ts";

/** The thread's settings after this request, with a model that its harness can run. */
async function settingsFor(actor: ThreadActor, params: TurnStartParams, host: Host, connection: Connection): Promise<ThreadSettings> {
  const named = requestedModel(params);
  const merged = mergeSettings(actor.settings, params);
  const wanted = named ?? actor.settings.model ?? (actor.record.harness === null ? await host.defaultModel(connection) : null);
  if (wanted === null) return { ...merged, model: null };
  // A model that the thread already runs on is not looked up again: it may have left the list meanwhile.
  if (wanted === actor.settings.model && actor.materialized) return { ...merged, model: wanted };
  return { ...merged, model: (await resolveModel(host, wanted, actor.record.harness)).id };
}

/** The typed answer to an interaction in this input, wherever the client put its text. */
export function typedAnswer({ input }: ThreadInput): InteractionCommand | null {
  const texts = input.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [texts.join(""), ...texts].map(parseInteractionCommand).find((command) => command !== null) ?? null;
}

/** Takes a typed answer in the place of a harness. Gives what to tell where it could not be taken; null = it was. */
function takeTyped(actor: ThreadActor, { interactionId, value }: InteractionCommand, { origin }: ThreadInput, host: Host, connection: Connection): string | null {
  const { status, message } = host.interactions.typed(actor.id, interactionId, value, answererOf(connection, origin?.sender ?? null));
  return status === "accepted" ? null : message;
}

/** The input of a request, with the person for whom a channel sends it. */
function threadInput({ input, clientUserMessageId, foldcast }: Pick<TurnStartParams, "input" | "clientUserMessageId" | "foldcast">, connection: Connection): ThreadInput {
  const sender = foldcast?.sender ?? null;
  if (sender !== null) answererOf(connection, sender);
  const origin = sender === null ? {} : { origin: { sender: { channel: sender.channel, chatId: sender.chatId, senderId: sender.senderId }, interactionId: null } };
  return { input: toUserInput(input), clientId: clientUserMessageId ?? null, ...origin };
}

/** Brings the thread to where it can accept this input: settings taken over, bound to the harness of its model. Gives that harness. */
export async function prepareTurn(actor: ThreadActor, params: TurnStartParams, input: ThreadInput, host: Host, connection: Connection): Promise<HarnessAdapter> {
  const settings = await settingsFor(actor, params, host, connection);
  const harness = actor.record.harness ?? settings.model?.slice(0, settings.model.indexOf("/")) ?? null;
  if (harness === null) throw invalidRequest("no model is available: no harness is ready");
  const adapter = await actor.bind(harness);
  if (hasImage(input.input) && !adapter.manifest.capabilities.images) throw notSupported("image input", `${adapter.manifest.displayName} takes text only`);
  if (actor.record.nativeSessionId !== null && !actor.hasSession && !adapter.manifest.capabilities.resume) {
    throw notSupported("turn/start", `${adapter.manifest.displayName} cannot continue a saved session`);
  }
  if (!sameSettings(settings, actor.settings)) actor.applySettings(settings, settings.model ?? harness);
  return adapter;
}

async function startTurn(actor: ThreadActor, params: TurnStartParams, host: Host, connection: Connection): Promise<Reply> {
  const input = threadInput(params, connection);
  const command = typedAnswer(input);
  if (command !== null) {
    const complaint = takeTyped(actor, command, input, host, connection);
    // After it: a chosen reply has begun a turn of its own.
    const { run } = actor;
    if (run !== null && complaint !== null) throw invalidRequest(complaint);
    if (run !== null) return new Reply({ turn: acceptedTurn(run.id) });
    const { turnId, begin } = actor.acceptHostTurn(input, complaint ?? "Answered.");
    return new Reply({ turn: acceptedTurn(turnId) }, begin);
  }
  const title = actor.record.ephemeral ? titleAnswer(params.outputSchema, input.input) : null;
  if (title !== null && actor.run === null) {
    const { turnId, begin } = actor.acceptHostTurn(input, title);
    return new Reply({ turn: acceptedTurn(turnId) }, begin);
  }
  await prepareTurn(actor, params, input, host, connection);
  // From here on nothing waits: of two requests at a time, the second finds the first one's turn.
  const { run } = actor;
  if (run !== null) {
    await actor.add(input);
    return new Reply({ turn: acceptedTurn(run.id) });
  }
  const { turnId, begin } = actor.accept(input);
  return new Reply({ turn: acceptedTurn(turnId) }, begin);
}

export const turnMethods: readonly Method[] = [
  method("turn/start", {
    owner: "thread",
    params: TurnStartParams,
    experimentalFields: [
      "responsesapiClientMetadata", "responsesapiClientMetadataPatch", "additionalContext", "environments", "runtimeWorkspaceRoots", "permissions",
      "collaborationMode", "multiAgentMode", "cyberAccessProgram",
    ],
    handler: (params, { host, connection }) => startTurn(loadedThread(host, params.threadId), params, host, connection),
  }),
  method("turn/steer", {
    owner: "thread",
    params: TurnSteerParams,
    experimentalFields: ["responsesapiClientMetadata", "responsesapiClientMetadataPatch", "additionalContext"],
    async handler(params, { host, connection }) {
      const actor = loadedThread(host, params.threadId);
      if (params.expectedTurnId === "") throw invalidRequest("expectedTurnId must not be empty");
      const { run } = actor;
      if (run === null) throw invalidRequest("no active turn to steer");
      if (params.expectedTurnId !== run.id) throw invalidRequest(`expected active turn id \`${params.expectedTurnId}\` but found \`${run.id}\``);
      const input = threadInput(params, connection);
      if (input.input.length === 0) throw invalidRequest("input must not be empty");
      const command = typedAnswer(input);
      const complaint = command === null ? null : takeTyped(actor, command, input, host, connection);
      if (complaint !== null) throw invalidRequest(complaint);
      if (command === null) await actor.add(input);
      return { turnId: run.id };
    },
  }),
  method("turn/interrupt", {
    owner: "thread",
    params: TurnInterruptParams,
    handler(params, { host }) {
      const actor = loadedThread(host, params.threadId);
      const { run } = actor;
      // Measured: without an id it is whatever runs, and nothing is no error.
      const isAny = params.turnId === "";
      if (run === null && isAny) return {};
      if (run === null) throw invalidRequest("no active turn to interrupt");
      if (!isAny && params.turnId !== run.id) throw invalidRequest(`expected active turn id ${params.turnId} but found ${run.id}`);
      return new Reply({}, () => {
        if (actor.run === run) actor.interrupt();
      });
    },
  }),
];
