import { createHash } from 'node:crypto';

import type { Position } from '../changes.ts';
import { invalidCursor } from '../errors.ts';

/** Content of a cursor. */
export type Cursor = {
  /** Newest final change that the connection has behind it; null before the first block. */
  readonly position: Position | null;
  /** Number of the connection, unique over all pods: 48 random bits. */
  readonly connection: number;
};

/** Writes and reads cursors of one network. */
export type Cursors = {
  readonly write: (cursor: Cursor) => string;
  /** @throws StreamingError `invalid_cursor` */
  readonly read: (text: string) => Cursor;
};

const VERSION = 1;

// Version, network, seqno, index, connection.
const networkAt = 1;
const seqnoAt = 5;
const indexAt = 9;
const connectionAt = 13;
const CONNECTION_BYTES = 6;
const BYTES = connectionAt + CONNECTION_BYTES;

/** Base64url of `BYTES` bytes. */
const form = new RegExp(`^[A-Za-z0-9_-]{${Math.ceil((BYTES * 4) / 3)}}$`);

/** Largest number of a connection, plus one. */
export const CONNECTIONS_END = 2 ** (8 * CONNECTION_BYTES);

/** @param network name of the network: cursors of another network are refused */
export function createCursors(network: string): Cursors {
  const mark = createHash('sha256')
    .update(network)
    .digest()
    .subarray(0, seqnoAt - networkAt);
  // Each event has a cursor: the buffer serves all of them.
  const bytes = Buffer.alloc(BYTES);
  bytes[0] = VERSION;
  mark.copy(bytes, networkAt);
  return {
    write({ position, connection }) {
      // Seqno 0 has no changes: it stands for no position.
      bytes.writeUInt32BE(position?.mcSeqno ?? 0, seqnoAt);
      bytes.writeUInt32BE(position?.index ?? 0, indexAt);
      bytes.writeUIntBE(connection, connectionAt, CONNECTION_BYTES);
      return bytes.toString('base64url');
    },
    read(text) {
      if (!form.test(text)) throw invalidCursor();
      const given = Buffer.from(text, 'base64url');
      const isOurs = given[0] === VERSION && given.subarray(networkAt, seqnoAt).equals(mark);
      // Several texts decode to the same bytes: only the written one counts.
      if (!isOurs || given.toString('base64url') !== text) throw invalidCursor();
      const mcSeqno = given.readUInt32BE(seqnoAt);
      const position = mcSeqno === 0 ? null : { mcSeqno, index: given.readUInt32BE(indexAt) };
      return { position, connection: given.readUIntBE(connectionAt, CONNECTION_BYTES) };
    },
  };
}
