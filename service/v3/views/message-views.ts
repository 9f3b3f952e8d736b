import { named, object, optional, scalar, type Infer } from '#service/contract/shape.ts';
import { digestBody, openBody, readOpcode, type Message, type MessageBody } from '#service/decode/tlb/message.ts';
import { writeBocText, writeRestText } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import type { DecodedBody } from '#service/decode/messages/decoded.ts';
import { decodedOpcode, type BodyDecoder } from '#service/decode/messages/messages.ts';
import { extraCurrenciesById } from '#service/decode/tlb/currency-collection.ts';
import { FLAGS_VERSION_MIN } from '#service/decode/tlb/global-version.ts';
import { initCell, type CellAt } from '#service/decode/tlb/message-cells.ts';
import { normalizedMessageHash } from '#service/decode/tlb/normalized-message.ts';
import {
  anyText,
  extraCurrencies,
  flag,
  hash,
  intString,
  opcodeText,
  orNull,
  rawAddress,
  viewBytes,
  viewOpcode,
} from '../request/scalars.ts';
import { viewDecoded } from './payloads.ts';

/** A decoded body with the fields of its constructor (service/v3/README.md#decoding). */
export const decoded = named(
  'Decoded',
  scalar<DecodedBody>({ type: 'object', required: ['@type'], properties: { '@type': { type: 'string' } } }),
);

const messageContent = named(
  'MessageContent',
  object({ hash: orNull(hash), body: orNull(anyText), decoded: orNull(decoded) }),
);

/** A message (service/v3/README.md#messages). */
export const message = named(
  'Message',
  object({
    hash,
    source: orNull(rawAddress),
    destination: orNull(rawAddress),
    value: orNull(intString),
    value_extra_currencies: orNull(extraCurrencies),
    fwd_fee: orNull(intString),
    ihr_fee: orNull(intString),
    extra_flags: orNull(intString),
    created_lt: orNull(intString),
    created_at: orNull(intString),
    opcode: orNull(opcodeText),
    decoded_opcode: orNull(anyText),
    ihr_disabled: orNull(flag),
    bounce: orNull(flag),
    bounced: orNull(flag),
    import_fee: orNull(intString),
    in_msg_tx_hash: optional(hash),
    out_msg_tx_hash: optional(hash),
    message_content: orNull(messageContent),
    init_state: orNull(messageContent),
    hash_norm: optional(hash),
  }),
);

export type MessageView = Infer<typeof message>;

/** Context for rendering the messages of a transaction. */
export type MessageSource = {
  readonly table: CellTable;
  /** Version of the rules of its block; null if unknown. */
  readonly globalVersion: number | null;
  /** Receives cells that rendering has to build: a single store for all messages of an answer. */
  readonly store: CellStore;
  readonly decode: BodyDecoder;
  /** Messages are shown without their bodies and states; default false. */
  readonly isBare?: boolean;
};

/** Bytes of the parts of a message whose size a contract chose. */
export function bytesOfContents({ message_content: content, init_state: init }: MessageView): number {
  const decodedBytes = content !== null && content.decoded !== null ? JSON.stringify(content.decoded).length : 0;
  return (content?.body?.length ?? 0) + (init?.body?.length ?? 0) + decodedBytes;
}

export function viewMessage(shown: Message, source: MessageSource): MessageView {
  const { table, globalVersion, isBare = false } = source;
  const opcode = readOpcode(table, shown.body);
  return {
    hash: viewBytes(table.hash(shown.cell)),
    ...viewInfo(table, shown, (globalVersion ?? 0) >= FLAGS_VERSION_MIN),
    opcode: opcode === undefined ? null : viewOpcode(opcode),
    decoded_opcode: opcode === undefined ? null : (decodedOpcode(opcode) ?? null),
    ...(isBare ? bare : viewContents(shown, source)),
    ...viewNormalized(table, shown),
  };
}

type ContentsView = Pick<MessageView, 'message_content' | 'init_state'>;

const bare: ContentsView = { message_content: null, init_state: null };

function viewContents(shown: Message, { table, store, decode }: MessageSource): ContentsView {
  const { init } = shown;
  return {
    message_content: {
      hash: viewBytes(digestBody(table, shown.body).hash),
      body: writeBodyText(table, shown.body),
      decoded: decodedOf(table, shown, decode),
    },
    init_state: init === undefined ? null : viewInit(initCell(store, table, init)),
  };
}

type InfoView = Omit<
  MessageView,
  'hash' | 'opcode' | 'decoded_opcode' | 'message_content' | 'init_state' | 'hash_norm'
>;

const noInfo = {
  source: null,
  destination: null,
  value: null,
  value_extra_currencies: null,
  fwd_fee: null,
  ihr_fee: null,
  extra_flags: null,
  created_lt: null,
  created_at: null,
  ihr_disabled: null,
  bounce: null,
  bounced: null,
  import_fee: null,
} satisfies InfoView;

/** Nanotons. A larger fee is omitted: it does not fit into the 64 bits of readers (service/indexer/README.md#rows). */
const importFeeMax = 2n ** 63n - 1n;

function viewInfo(table: CellTable, { info }: Message, hasFlags: boolean): InfoView {
  if (info.kind === 'externalIn') {
    const importFee = info.importFee > importFeeMax ? null : info.importFee.toString();
    return { ...noInfo, destination: addressText(info.destination), import_fee: importFee };
  }
  const sent = {
    ...noInfo,
    source: addressText(info.source),
    created_lt: info.createdLt.toString(),
    created_at: info.createdAt.toString(),
  };
  if (info.kind === 'externalOut') return sent;
  return {
    ...sent,
    destination: addressText(info.destination),
    value: info.value.grams.toString(),
    value_extra_currencies: extraCurrenciesById(table, info.value.extra),
    fwd_fee: info.forwardFee.toString(),
    ihr_fee: hasFlags ? '0' : info.extraFlags.toString(),
    extra_flags: hasFlags ? info.extraFlags.toString() : null,
    ihr_disabled: info.ihrDisabled,
    bounce: info.bounce,
    bounced: info.bounced,
  };
}

const bocOptions = { crc32c: true } as const;

function writeBodyText(table: CellTable, body: MessageBody): string {
  const isWhole = body.skipBits === 0 && body.skipRefs === 0;
  return isWhole ? writeBocText(table, [body.cell], bocOptions) : writeRestText(openBody(table, body), bocOptions);
}

function viewInit({ table, cell }: CellAt): Infer<typeof messageContent> {
  return { hash: viewBytes(table.hash(cell)), body: writeBocText(table, [cell], bocOptions), decoded: null };
}

/** Null for an exotic cell too: its contents are not in the message. */
function decodedOf(table: CellTable, { body }: Message, decode: BodyDecoder): DecodedBody | null {
  if (table.kind(body.cell) !== 'ordinary') return null;
  return viewDecoded(decode(openBody(table, body)));
}

/** Normalized hash of a message from outside, if it differs from its hash (TEP-467). */
function viewNormalized(table: CellTable, { cell, info, body }: Message): Pick<MessageView, 'hash_norm'> {
  if (info.kind !== 'externalIn') return {};
  const normalized = normalizedMessageHash(table, cell, digestBody(table, body));
  return normalized.equals(table.hash(cell)) ? {} : { hash_norm: viewBytes(normalized) };
}
