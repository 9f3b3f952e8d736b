import { fitsFriendly, formatFriendlyAddress } from '../decode/address.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { listExtraCurrencies } from '../decode/tlb/currency-collection.ts';
import type { ExternalAddress, InternalAddress } from '../decode/tlb/message-address.ts';
import { bodyCell } from '../decode/tlb/message-cells.ts';
import type { Message } from '../decode/tlb/message.ts';
import {
  bytesOfCell,
  msgData,
  msgDataPlain,
  msgDataSecret,
  readContent,
  viewMsgData,
  viewRawData,
  type MessageSource,
} from './message-data.ts';
import { friendlyAddressOrEmpty, hash, lt, nano, text } from './scalars.ts';
import { constant, list, named, object, oneOf, optional, type Infer } from '../contract/shape.ts';
import {
  accountAddress,
  EXTRA_CURRENCIES_MAX,
  extraCurrency,
  viewAccountAddress,
  viewExtraCurrency,
  viewHash,
} from './views.ts';

const amounts = {
  value: nano,
  extra_currencies: list(extraCurrency, EXTRA_CURRENCIES_MAX),
  fwd_fee: nano,
  ihr_fee: nano,
  created_lt: lt,
  body_hash: hash,
};

const extHeader = {
  '@type': constant('ext.message'),
  hash,
  source: friendlyAddressOrEmpty,
  destination: friendlyAddressOrEmpty,
  ...amounts,
};

/** Message of the operations without Std in their name (service/v2/README.md#messages). */
export const message = named(
  'Message',
  oneOf([
    named(
      'MessageWithText',
      object({ ...extHeader, msg_data: msgDataPlain, message: text, message_decode_error: optional(text) }),
    ),
    named('MessageEncrypted', object({ ...extHeader, msg_data: msgDataSecret })),
  ]),
);

/** Message of the operations with Std in their name, and of operations on blocks (service/v2/README.md#messages). */
export const messageStd = named(
  'MessageStd',
  object({
    '@type': constant('raw.message'),
    hash,
    source: accountAddress,
    destination: accountAddress,
    ...amounts,
    msg_data: msgData,
  }),
);

export function viewMessage(shownFrom: MessageSource): Infer<typeof message> {
  const { table, message: shown } = shownFrom;
  const body = bodyCell(shownFrom.store, table, shown.body);
  const { source, destination } = viewEnds(shown);
  const header = {
    '@type': 'ext.message',
    hash: viewHash(table.hash(shown.cell)),
    source,
    destination,
    ...viewAmounts(table, shown),
    body_hash: viewHash(body.table.hash(body.cell)),
  } as const;
  const content = readContent(body);
  if (content.kind === 'raw') {
    const own = bytesOfCell(body);
    return {
      ...header,
      msg_data: viewRawData(shownFrom, body),
      message: own.length === 0 ? '' : `${own.toString('base64')}\n`,
    };
  }
  const data = content.text.toString('base64');
  if (content.kind === 'encrypted') return { ...header, msg_data: { '@type': 'msg.dataEncryptedText', text: data } };
  const readable = readUtf8(content.text);
  return {
    ...header,
    msg_data: { '@type': 'msg.dataText', text: data },
    message: readable ?? '',
    ...(readable === undefined && { message_decode_error: 'the text is not UTF-8' }),
  };
}

export function viewMessageStd(shownFrom: MessageSource): Infer<typeof messageStd> {
  const { table, message: shown } = shownFrom;
  const body = bodyCell(shownFrom.store, table, shown.body);
  const { source, destination } = viewEnds(shown);
  return {
    '@type': 'raw.message',
    hash: viewHash(table.hash(shown.cell)),
    source: viewAccountAddress(source),
    destination: viewAccountAddress(destination),
    ...viewAmounts(table, shown),
    body_hash: viewHash(body.table.hash(body.cell)),
    msg_data: viewMsgData(shownFrom, body, readContent(body)),
  };
}

/** Value and costs of a message. A message from or to the outside has no value, and a message from outside has no lt. */
function viewAmounts(table: CellTable, { info }: Message) {
  const { value, forwardFee } = info.kind === 'internal' ? info : noValue;
  return {
    value: value.grams.toString(),
    extra_currencies: listExtraCurrencies(table, value.extra).slice(0, EXTRA_CURRENCIES_MAX).map(viewExtraCurrency),
    fwd_fee: forwardFee.toString(),
    ihr_fee: '0',
    created_lt: (info.kind === 'externalIn' ? 0n : info.createdLt).toString(),
  };
}

const noValue = { value: { grams: 0n, extra: undefined }, forwardFee: 0n };

function viewEnds({ info }: Message): { source: string; destination: string } {
  return { source: viewEnd(info.source), destination: viewEnd(info.destination) };
}

/** Friendly form of an account; an external, absent or unusual address is an empty text (service/v2/README.md#outputs). */
function viewEnd(address: InternalAddress | ExternalAddress | undefined): string {
  if (address?.kind !== 'internal' || address.bitLength !== 256) return '';
  const { workchain, anycast } = address;
  if (!fitsFriendly(address)) return '';
  return formatFriendlyAddress({ workchain, id: anycast === undefined ? address.id : rewrite(address.id, anycast) });
}

/** The id with its first bits replaced by those of the anycast prefix. */
function rewrite(id: Buffer, { depth, prefix }: { depth: number; prefix: Buffer }): Buffer {
  return Buffer.from(
    id.map((byte, at) => {
      const ownBits = Math.min(8, Math.max(0, (at + 1) * 8 - depth));
      const mask = (1 << ownBits) - 1;
      return (byte & mask) | ((prefix[at] ?? 0) & ~mask);
    }),
  );
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readUtf8(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
