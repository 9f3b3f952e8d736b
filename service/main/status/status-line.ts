import { createTerminalLine, type TerminalLine } from './terminal-line.ts';

/** Facts in the status line, read each time. */
export type StatusFacts = {
  /** Served masterchain seqno; undefined before the first head. */
  readonly headSeqno: number | undefined;
  /** Progress of the index; undefined without an index. */
  readonly index: string | undefined;
  readonly liteServersUsable: number;
  readonly liteServers: number;
  /** HTTP requests answered since the start. */
  readonly requests: number;
  /** Last masterchain seqno of the recording; undefined on an endless network. */
  readonly lastSeqno: number | undefined;
  /** Seconds that the network's clock is ahead of this machine's. */
  readonly aheadSeconds: number;
  /** Seconds between blocks of the recording. */
  readonly paceSeconds: number;
};

/** A live line with the state of the service. */
export function createStatusLine(
  options: { readonly output: NodeJS.WriteStream },
  dependencies: { readonly facts: () => Promise<StatusFacts> },
): TerminalLine {
  let requestsBefore = 0;
  return createTerminalLine(options, {
    text: async (everyMs) => {
      const facts = await dependencies.facts();
      const requestsPerSecond = ((facts.requests - requestsBefore) * 1000) / everyMs;
      requestsBefore = facts.requests;
      return formatStatus(facts, requestsPerSecond);
    },
  });
}

/** The line itself. */
export function formatStatus(facts: StatusFacts, requestsPerSecond: number): string {
  const parts = [
    facts.headSeqno === undefined ? 'waiting for a head' : `head ${facts.headSeqno}${recordingPart(facts)}`,
    ...(facts.aheadSeconds === 0 ? [] : [`clock ${facts.aheadSeconds} s ahead`]),
    ...(facts.index === undefined ? [] : [facts.index]),
    `lite servers ${facts.liteServersUsable}/${facts.liteServers}`,
    `requests ${facts.requests}, ${requestsPerSecond.toFixed(1)}/s`,
  ];
  return parts.join(' | ');
}

/** Returns the position in a recording: `of 1000, ends in 4m 10s`, then `of 1000, ended`. */
function recordingPart(facts: StatusFacts): string {
  if (facts.lastSeqno === undefined || facts.headSeqno === undefined) return '';
  const seconds = Math.round((facts.lastSeqno - facts.headSeqno) * facts.paceSeconds);
  if (seconds <= 0) return ` of ${facts.lastSeqno}, ended`;
  return ` of ${facts.lastSeqno}, ends in ${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}
