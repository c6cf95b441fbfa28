export interface Signal {
  promise: Promise<void>;
  resolve: () => void;
}

/** A promise and the way to resolve it. */
export function makeSignal(): Signal {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
