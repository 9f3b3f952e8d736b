import type { Rendered } from './packed-json.ts';

/**
 * Version of the stored form of traces, which is also their rendered form. Increase it with a change of the form: traces of older versions
 * are no longer returned. Add a step of the schema that empties `written_traces`.
 */
export const TRACE_FORMAT_VERSION = 4;

/** Cached data of a rendered trace besides its text. */
export type StoredTrace = {
  readonly warning: string | undefined;
  readonly accounts: readonly string[];
  /** Number of messages that its transactions received and sent. */
  readonly messages: number;
  /** Bytes of its tree and of the order of its transactions; the remaining bytes are the transactions. */
  readonly treeBytes: number;
  readonly orderBytes: number;
};

/** A newly rendered trace; bytes are UTF-8. */
export type NewTrace = Rendered<StoredTrace>;
