/** Width of a terminal that does not report its width. */
const columnsUntold = 80;

/** A terminal updates each second. A log file gets a line each minute. */
const terminalEveryMs = 1000;
const logEveryMs = 60_000;

export type LiveLine = { close(): void };

/**
 * Updates a single line on a terminal, or writes it at intervals to any other stream.
 *
 * @param text returns the line, called each time
 */
export function createLiveLine(
  { output }: { readonly output: NodeJS.WriteStream },
  { text }: { readonly text: (everyMs: number) => string | Promise<string> },
): LiveLine {
  const terminal = output.isTTY;
  const everyMs = terminal ? terminalEveryMs : logEveryMs;
  let closed = false;
  const timer = setInterval(() => void write(), everyMs);
  timer.unref();

  async function write(): Promise<void> {
    const line = await text(everyMs);
    if (closed) return;
    // Carriage return and "erase to the end of the line" rewrite the same line.
    output.write(terminal ? `\r${line.slice(0, (output.columns || columnsUntold) - 1)}\u001B[K` : `${line}\n`);
  }

  return {
    close() {
      closed = true;
      clearInterval(timer);
      if (terminal) output.write('\n');
    },
  };
}
