import { createHash } from 'node:crypto';

import type { Position } from '../changes.ts';
import { invalidCursor } from '../errors.ts';

/** Place in the log of the levels below `finalized` (hub/levels-log.ts). */
export type LevelsPlace = {
  /** Names the log: 32 bits. */
  readonly epoch: number;
  /** Mark of the newest event from the log that the connection has behind it: 48 bits. */
  readonly mark: number;
};

/** Content of a cursor. */
export type Cursor = {
  /** Newest final change that the connection has behind it; null before the first block. */
  readonly position: Position | null;
  /** Number of the connection, unique over all pods: 48 random bits. */
  readonly connection: number;
  /** Undefined for a connection at `finalized`. */
  readonly levels?: LevelsPlace | undefined;
};

/** Writes and reads cursors of one network. */
export type Cursors = {
  readonly write: (cursor: Cursor) => string;
  /** @throws StreamingError `invalid_cursor` */
  readonly read: (text: string) => Cursor;
};

/** First byte of a cursor without a place in the log of levels, and of a cursor with one. */
const versions = { final: 1, levels: 2 } as const;

// Version, network, seqno, index, connection; then epoch and mark.
const networkAt = 1;
const seqnoAt = 5;
const indexAt = 9;
const connectionAt = 13;
const CONNECTION_BYTES = 6;
const epochAt = connectionAt + CONNECTION_BYTES;
const markAt = epochAt + 4;
const MARK_BYTES = 6;
const BYTES = markAt + MARK_BYTES;

const form = /^[A-Za-z0-9_-]{1,64}$/;

/** Largest number of a connection, plus one. */
export const CONNECTIONS_END = 2 ** (8 * CONNECTION_BYTES);

/** Largest epoch, plus one. */
export const EPOCHS_END = 2 ** 32;

/** @param network name of the network: cursors of another network are refused */
export function createCursors(network: string): Cursors {
  const mark = createHash('sha256')
    .update(network)
    .digest()
    .subarray(0, seqnoAt - networkAt);
  // Each event has a cursor: the buffers serve all of them.
  const whole = Buffer.alloc(BYTES);
  mark.copy(whole, networkAt);
  const final = whole.subarray(0, epochAt);
  return {
    write({ position, connection, levels }) {
      whole[0] = levels === undefined ? versions.final : versions.levels;
      // Seqno 0 has no changes: it stands for no position.
      whole.writeUInt32BE(position?.mcSeqno ?? 0, seqnoAt);
      whole.writeUInt32BE(position?.index ?? 0, indexAt);
      whole.writeUIntBE(connection, connectionAt, CONNECTION_BYTES);
      if (levels === undefined) return final.toString('base64url');
      whole.writeUInt32BE(levels.epoch, epochAt);
      whole.writeUIntBE(levels.mark, markAt, MARK_BYTES);
      return whole.toString('base64url');
    },
    read(text) {
      if (!form.test(text)) throw invalidCursor();
      const given = Buffer.from(text, 'base64url');
      const hasLevels = given[0] === versions.levels;
      const isWhole = given.length === (hasLevels ? BYTES : epochAt) && (hasLevels || given[0] === versions.final);
      const isOurs = isWhole && given.subarray(networkAt, seqnoAt).equals(mark);
      // Several texts decode to the same bytes: only the written one counts.
      if (!isOurs || given.toString('base64url') !== text) throw invalidCursor();
      const mcSeqno = given.readUInt32BE(seqnoAt);
      const position = mcSeqno === 0 ? null : { mcSeqno, index: given.readUInt32BE(indexAt) };
      const connection = given.readUIntBE(connectionAt, CONNECTION_BYTES);
      if (!hasLevels) return { position, connection };
      const levels = { epoch: given.readUInt32BE(epochAt), mark: given.readUIntBE(markAt, MARK_BYTES) };
      return { position, connection, levels };
    },
  };
}
