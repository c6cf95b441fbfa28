import protobuf from "protobufjs/light.js";

/** One frame of the long connection (`pbbp2.Frame`); `method` 0 is control (ping, pong), 1 is data (events and their answers). */
export interface Frame {
  readonly SeqID: number;
  readonly LogID: number;
  readonly service: number;
  readonly method: number;
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  readonly payload: Uint8Array;
}

const required = (type: string, id: number) => ({ type, id, rule: "required" }) as const;
const root = protobuf.Root.fromJSON({
  nested: {
    Header: { fields: { key: required("string", 1), value: required("string", 2) } },
    Frame: {
      fields: {
        SeqID: required("uint64", 1), LogID: required("uint64", 2), service: required("int32", 3), method: required("int32", 4),
        headers: { type: "Header", id: 5, rule: "repeated" }, payloadEncoding: { type: "string", id: 6 }, payloadType: { type: "string", id: 7 },
        payload: { type: "bytes", id: 8 }, LogIDNew: { type: "string", id: 9 },
      },
    },
  },
});
const frameType = root.lookupType("Frame");

export function encodeFrame(frame: Frame): Uint8Array {
  return frameType.encode(frameType.fromObject(frame)).finish();
}

/** Throws for bytes that are no frame. */
export function decodeFrame(bytes: Uint8Array): Frame {
  const plain = frameType.toObject(frameType.decode(bytes), { longs: Number, defaults: true });
  return plain as Frame;
}

export function headerOf(frame: Frame, key: string): string | undefined {
  return frame.headers.find((header) => header.key === key)?.value;
}
