/** Of a terminal that does not tell its width. */
const columnsUntold = 80;

/** A terminal follows each second; a log file wants one line a minute. */
const terminalEveryMs = 1000;
const logEveryMs = 60_000;

export type LiveLine = { close(): void };

/**
 * Keeps one line on a terminal, or writes it now and then to anything else.
 *
 * @param text of the line, asked for each time
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
    // Carriage return and "erase to the end of the line" keep it on one line.
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
