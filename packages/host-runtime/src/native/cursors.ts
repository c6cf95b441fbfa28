/** Cursors of lists that both of us fill begin so; the real server makes none that does. */
export const CURSOR_HEAD = "foldcast:";
