import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Protocol = {
  readonly adnl: Readonly<Record<string, string>>;
  readonly tl_requests: readonly { readonly function: string; readonly args: string; readonly hex: string }[];
};

const file = join(import.meta.dirname, '../../../vectors/liteserver/protocol.json');
const protocol = JSON.parse(readFileSync(file, 'utf8')) as Protocol;

/** Requests as an independent implementation writes them. */
export const requestVectors = protocol.tl_requests;

/** Returns one of the golden values of handshakes and frames. */
export function golden(name: string): Buffer {
  const hex = protocol.adnl[name];
  if (hex === undefined) throw new Error(`there is no vector ${name}`);
  return Buffer.from(hex, 'hex');
}
