/** What the status line tells, read anew each time. */
export type StatusFacts = {
  /** Served masterchain seqno; undefined before the first head. */
  readonly headSeqno: number | undefined;
  /** Where the index is; undefined without one. */
  readonly index: string | undefined;
  readonly liteServersUsable: number;
  readonly liteServers: number;
  /** HTTP requests answered since the start. */
  readonly requests: number;
  /** Last masterchain seqno of the recording; undefined on a network that has no end. */
  readonly lastSeqno: number | undefined;
  /** Seconds between blocks of the recording. */
  readonly paceSeconds: number;
};

/** A terminal follows each second; a log file wants one line a minute. */
const terminalEveryMs = 1000;
const logEveryMs = 60_000;

export type StatusLine = { close(): void };

/** Keeps one short line with the state of the service on a terminal, or writes it now and then to anything else. */
export function createStatusLine(
  options: { readonly output: NodeJS.WriteStream },
  dependencies: { readonly facts: () => Promise<StatusFacts> },
): StatusLine {
  const { output } = options;
  const terminal = output.isTTY;
  const everyMs = terminal ? terminalEveryMs : logEveryMs;
  let requestsBefore = 0;
  let closed = false;
  const timer = setInterval(() => void write(), everyMs);
  timer.unref();

  async function write(): Promise<void> {
    const facts = await dependencies.facts();
    if (closed) return;
    const text = formatStatus(facts, ((facts.requests - requestsBefore) * 1000) / everyMs);
    requestsBefore = facts.requests;
    // Carriage return and "erase to the end of the line" keep it on one line.
    output.write(terminal ? `\r${text.slice(0, output.columns - 1)}\u001B[K` : `${text}\n`);
  }

  return {
    close() {
      closed = true;
      clearInterval(timer);
      if (terminal) output.write('\n');
    },
  };
}

/** The line itself. */
export function formatStatus(facts: StatusFacts, requestsPerSecond: number): string {
  const parts = [
    facts.headSeqno === undefined ? 'waiting for a head' : `head ${facts.headSeqno}${recordingPart(facts)}`,
    ...(facts.index === undefined ? [] : [facts.index]),
    `lite servers ${facts.liteServersUsable}/${facts.liteServers}`,
    `requests ${facts.requests}, ${requestsPerSecond.toFixed(1)}/s`,
  ];
  return parts.join(' | ');
}

/** Where a recording stands: `of 1000, ends in 4m 10s`, then `of 1000, ended`. */
function recordingPart(facts: StatusFacts): string {
  if (facts.lastSeqno === undefined || facts.headSeqno === undefined) return '';
  const seconds = Math.round((facts.lastSeqno - facts.headSeqno) * facts.paceSeconds);
  if (seconds <= 0) return ` of ${facts.lastSeqno}, ended`;
  return ` of ${facts.lastSeqno}, ends in ${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}
