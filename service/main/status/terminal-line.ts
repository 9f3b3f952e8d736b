/** Width of a terminal that does not report its width. */
const COLUMNS_UNTOLD = 80;

/** A terminal updates each second. A log file gets a line each minute. */
const TERMINAL_EVERY_MS = 1000;
const LOG_EVERY_MS = 60_000;

export type TerminalLine = { close(): void };

/**
 * Updates a single line on a terminal, or writes it at intervals to any other stream.
 *
 * @param text returns the line, called each time
 */
export function createTerminalLine(
  { output }: { readonly output: NodeJS.WriteStream },
  { text }: { readonly text: (everyMs: number) => string | Promise<string> },
): TerminalLine {
  const terminal = output.isTTY;
  const everyMs = terminal ? TERMINAL_EVERY_MS : LOG_EVERY_MS;
  let closed = false;
  const timer = setInterval(() => void write(), everyMs);
  timer.unref();

  async function write(): Promise<void> {
    const line = await text(everyMs);
    if (closed) return;
    // Carriage return and "erase to the end of the line" rewrite the same line.
    output.write(terminal ? `\r${line.slice(0, (output.columns || COLUMNS_UNTOLD) - 1)}\u001B[K` : `${line}\n`);
  }

  return {
    close() {
      closed = true;
      clearInterval(timer);
      if (terminal) output.write('\n');
    },
  };
}
