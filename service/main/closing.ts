type Closable = { close(): void | Promise<void> };

/** Closes a part that a stack adopted. A part that is absent needs nothing. */
export async function closePart(part: Closable | undefined): Promise<void> {
  await part?.close();
}

/** Returns a stack that closes the parts of another, and then one part more. The other stack is empty then. */
export function closingLast(last: Closable, parts: AsyncDisposableStack): AsyncDisposableStack {
  const all = new AsyncDisposableStack();
  all.adopt(last, closePart);
  all.use(parts.move());
  return all;
}
