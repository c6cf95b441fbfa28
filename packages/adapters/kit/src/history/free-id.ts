/** The id, or where it is taken a form of it that is not; takes it. Some models give an id to several calls. */
export function freeId(taken: Set<string>, id: string): string {
  let free = id;
  for (let times = 2; taken.has(free); times++) free = `${id}~${times}`;
  taken.add(free);
  return free;
}
