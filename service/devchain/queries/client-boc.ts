import type { Boc } from '#service/decode/boc.ts';
import { BOC_MAGIC, parseBoc } from '#service/decode/boc.ts';

/** First four bytes of the three kinds of bags. */
const bagMagics: readonly number[] = Object.values(BOC_MAGIC);

const say = (text: string): { problem: string } => ({ problem: `cannot deserialize bag-of-cells: ${text}` });

/** A bag that a client sent, or in the node's words why it is none. */
export function parseClientBoc(bytes: Buffer): Boc | { readonly problem: string } {
  if (bytes.length < 4) return say(`not enough bytes (${bytes.length} present, 10 required)`);
  if (!bagMagics.includes(bytes.readUInt32BE(0))) return say('invalid header, error 0');
  try {
    return parseBoc(bytes, { rootLevelMax: 3 });
  } catch (error) {
    return say((error as Error).message);
  }
}
