const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * The same value with every UUID replaced by the order in which it first appears: what is equal but for the names of
 * threads and turns becomes deep-equal. `known` carries the order on from one value to the next.
 */
export function withoutIds<T>(value: T, known: Map<string, string> = new Map<string, string>()): T {
  const text = JSON.stringify(value).replace(UUID, (id) => {
    const name = known.get(id) ?? `id-${known.size}`;
    known.set(id, name);
    return name;
  });
  return JSON.parse(text) as T;
}
