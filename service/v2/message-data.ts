import { writeBocText } from '../decode/boc-writer.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import type { CellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { initCell, type CellAt } from '../decode/tlb/message-cells.ts';
import type { Message } from '../decode/tlb/message.ts';
import { base64, boc, bocOrEmpty } from './scalars.ts';
import { constant, named, object, variants, type Infer } from '../contract/shape.ts';

const msgDataRaw = named('MsgDataRaw', object({ '@type': constant('msg.dataRaw'), body: boc, init_state: bocOrEmpty }));

const msgDataText = named('MsgDataText', object({ '@type': constant('msg.dataText'), text: base64 }));

const msgDataEncryptedText = named(
  'MsgDataEncryptedText',
  object({ '@type': constant('msg.dataEncryptedText'), text: base64 }),
);

/** Part of the contract, never made here: only the receiver's key could. */
const msgDataDecryptedText = named(
  'MsgDataDecryptedText',
  object({ '@type': constant('msg.dataDecryptedText'), text: base64 }),
);

/** Contents of a message (service/v2/README.md#messages). */
export const msgData = named(
  'MsgData',
  variants(
    '@type',
    {
      'msg.dataRaw': 'MsgDataRaw',
      'msg.dataText': 'MsgDataText',
      'msg.dataDecryptedText': 'MsgDataDecryptedText',
      'msg.dataEncryptedText': 'MsgDataEncryptedText',
    },
    [msgDataRaw, msgDataText, msgDataDecryptedText, msgDataEncryptedText],
  ),
);

/** Public body. */
export const msgDataPlain = named(
  'MsgDataPlain',
  variants('@type', { 'msg.dataRaw': 'MsgDataRaw', 'msg.dataText': 'MsgDataText' }, [msgDataRaw, msgDataText]),
);

/** Encrypted body, which only the receiver can read. */
export const msgDataSecret = named(
  'MsgDataSecret',
  variants(
    '@type',
    { 'msg.dataEncryptedText': 'MsgDataEncryptedText', 'msg.dataDecryptedText': 'MsgDataDecryptedText' },
    [msgDataEncryptedText, msgDataDecryptedText],
  ),
);

/** A message in the table of its transaction; `store` takes cells that have to be made to show it. */
export type MessageSource = { readonly store: CellStore; readonly table: CellTable; readonly message: Message };

/** Opcodes (first 32 bits of a body) that announce a text (service/v2/README.md#messages). */
const TEXT = 0;
const ENCRYPTED_TEXT = 0x2167da4b;

/** Content of a body: text when it is marked as text and has text, else its cell. */
export type BodyContent = { readonly kind: 'raw' | 'text' | 'encrypted'; readonly text: Buffer };

const noText = Buffer.alloc(0);

export function readContent({ table, cell }: CellAt): BodyContent {
  const raw = { kind: 'raw', text: noText } as const;
  if (table.kind(cell) !== 'ordinary') return raw;
  const slice = new CellSlice(table, cell);
  const operation = slice.remainingBits < 32 ? undefined : slice.uint(32);
  if (operation !== TEXT && operation !== ENCRYPTED_TEXT) return raw;
  const text = readSnake(slice);
  return text === undefined ? raw : { kind: operation === TEXT ? 'text' : 'encrypted', text };
}

/** Bounds of a body that is shown as text (service/v2/README.md#messages). */
const TEXT_BYTES_MAX = 1024;
const TEXT_CELLS_MAX = 16;

/**
 * Reads text that continues from cell to cell by first references. Cells need not end at a whole byte, but the text does.
 * Undefined when it exceeds the bounds or contains a cell that is not ordinary.
 */
function readSnake(head: CellSlice): Buffer | undefined {
  const bytes: number[] = [];
  let byte = 0;
  let byteBits = 0;
  for (let slice = head, cells = 1; ; cells++) {
    if (cells > TEXT_CELLS_MAX) return undefined;
    while (slice.remainingBits > 0) {
      const taken = Math.min(8 - byteBits, slice.remainingBits);
      byte = (byte << taken) | slice.uint(taken);
      byteBits += taken;
      if (byteBits < 8) continue;
      bytes.push(byte);
      byte = 0;
      byteBits = 0;
    }
    if (bytes.length > TEXT_BYTES_MAX) return undefined;
    if (slice.remainingRefs === 0) break;
    const next = slice.ref();
    if (slice.table.kind(next) !== 'ordinary') return undefined;
    slice = new CellSlice(slice.table, next);
  }
  return byteBits === 0 ? Buffer.from(bytes) : undefined;
}

/** Bits of the root cell as bytes, padded with zeros; references are left out (service/v2/README.md#messages). */
export function bytesOfCell({ table, cell }: CellAt): Buffer {
  const bits = table.bitLength(cell);
  const start = table.dataOffset(cell);
  const bytes = Buffer.from(table.bytes.subarray(start, start + Math.ceil(bits / 8)));
  const spare = bytes.length * 8 - bits;
  if (spare > 0) bytes[bytes.length - 1]! &= 0xff << spare;
  return bytes;
}

export function viewMsgData(source: MessageSource, body: CellAt, content: BodyContent): Infer<typeof msgData> {
  if (content.kind === 'raw') return viewRawData(source, body);
  const text = content.text.toString('base64');
  return content.kind === 'text' ? { '@type': 'msg.dataText', text } : { '@type': 'msg.dataEncryptedText', text };
}

export function viewRawData({ store, table, message }: MessageSource, body: CellAt): Infer<typeof msgDataRaw> {
  const { init } = message;
  return {
    '@type': 'msg.dataRaw',
    body: bocOf(body),
    init_state: init === undefined ? '' : bocOf(initCell(store, table, init)),
  };
}

function bocOf({ table, cell }: CellAt): string {
  return writeBocText(table, [cell], { crc32c: true });
}
