import { Address, beginCell, Dictionary, internal, SendMode, storeMessageRelaxed, storeOutList } from '@ton/core';
import type { Builder, Cell, MessageRelaxed } from '@ton/core';
import {
  WalletContractV1R3,
  WalletContractV2R2,
  WalletContractV3R2,
  WalletContractV4,
  WalletContractV5R1,
} from '@ton/ton';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { decodeBody } from '#service/decode/messages/messages.ts';

const secretKey = Buffer.alloc(64, 7);
const publicKey = Buffer.alloc(32, 8);
const receiver = Address.parseRaw(`0:${'4'.repeat(64)}`);

function decode(cell: Cell): unknown {
  const boc = parseBoc(cell.toBoc());
  return decodeBody(new CellSlice(boc, boc.roots[0]!));
}

function transfers(count: number): MessageRelaxed[] {
  return Array.from({ length: count }, (_, at) =>
    internal({ to: receiver, value: BigInt(at + 1), body: `number ${at}` }),
  );
}

const sent = { seqno: 5, timeout: 1_790_000_000, secretKey, sendMode: SendMode.PAY_GAS_SEPARATELY };

/** Returns every value of a name anywhere in an object, in the order of the object. */
function valuesOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [...(key === name ? [inner] : []), ...valuesOf(inner, name)]);
}

function messageCell(message: MessageRelaxed): Cell {
  return beginCell().store(storeMessageRelaxed(message)).endCell();
}

/** `mode:(## 8) msg:^(MessageRelaxed Any)`. */
const modeWithMessage = {
  serialize: (message: MessageRelaxed, builder: Builder) => builder.storeUint(3, 8).storeRef(messageCell(message)),
  parse: () => transfers(1)[0]!,
};

function orders(count: number): Dictionary<number, MessageRelaxed> {
  const dictionary = Dictionary.empty(Dictionary.Keys.Uint(16), modeWithMessage);
  transfers(count).forEach((message, at) => dictionary.set(at, message));
  return dictionary;
}

const receiverShown = {
  '@type': 'addr_std',
  anycast: { '@type': 'nothing_from_maybe' },
  workchain_id: '0',
  address: '4'.repeat(64),
};

const signature = Buffer.alloc(64, 0xab);

function outList(count: number): Cell {
  const actions = transfers(count).map((outMsg) => ({ type: 'sendMsg' as const, mode: 3, outMsg }));
  return beginCell().store(storeOutList(actions)).endCell();
}

const signed: readonly [name: string, count: number, body: Cell][] = [
  ...[0, 1, 4].flatMap((count): [string, number, Cell][] => [
    [
      'wallet_signed_v3',
      count,
      WalletContractV3R2.create({ workchain: 0, publicKey }).createTransfer({ ...sent, messages: transfers(count) }),
    ],
    [
      'wallet_signed_v4',
      count,
      WalletContractV4.create({ workchain: 0, publicKey }).createTransfer({ ...sent, messages: transfers(count) }),
    ],
    [
      'wallet_signed_v1_v2',
      count,
      WalletContractV2R2.create({ workchain: 0, publicKey }).createTransfer({ ...sent, messages: transfers(count) }),
    ],
  ]),
  ...[1, 17, 255].flatMap((count): [string, number, Cell][] => [
    [
      'w5_external_signed_request',
      count,
      WalletContractV5R1.create({ workchain: 0, publicKey }).createTransfer({ ...sent, messages: transfers(count) }),
    ],
    [
      'highload_v3_internal_request',
      count,
      beginCell().storeUint(0xae42e5a4, 32).storeUint(9, 64).storeRef(outList(count)).endCell(),
    ],
    [
      'preprocessed_wallet_signed_v2',
      count,
      beginCell()
        .storeBuffer(signature)
        .storeRef(beginCell().storeUint(1, 64).storeUint(2, 16).storeRef(outList(count)).endCell())
        .endCell(),
    ],
  ]),
  ...[1, 100].flatMap((count): [string, number, Cell][] => [
    [
      'highload_wallet_signed_v1',
      count,
      beginCell()
        .storeBuffer(signature)
        .storeUint(1, 96)
        .storeRef(beginCell().storeDictDirect(orders(count)).endCell())
        .endCell(),
    ],
    [
      'highload_wallet_signed_v2',
      count,
      beginCell().storeBuffer(signature).storeUint(1, 96).storeDict(orders(count)).endCell(),
    ],
  ]),
  [
    'highload_wallet_signed_v3',
    1,
    beginCell()
      .storeBuffer(signature)
      .storeRef(
        beginCell()
          .storeUint(1, 32)
          .storeRef(messageCell(transfers(1)[0]!))
          .storeUint(3, 8)
          .storeUint(0, 23)
          .storeUint(1, 64)
          .storeUint(60, 22)
          .endCell(),
      )
      .endCell(),
  ],
];

describe('orders of wallets', () => {
  it.each(signed)(
    'an order of type %s with %i messages is decoded with the content of each message',
    (name, count, body) => {
      const shown = decode(body) as { '@type': string };
      expect(shown['@type']).toBe(name);
      const comments = valuesOf(shown, 'text');
      expect(comments).toHaveLength(count);
      expect(new Set(comments)).toEqual(new Set(Array.from({ length: count }, (_, at) => `number ${at}`)));
      expect(valuesOf(shown, 'dest')).toEqual(Array.from({ length: count }, () => receiverShown));
    },
  );

  it('an order of a wallet v1 is decoded like an order of a v2', () => {
    const wallet = WalletContractV1R3.create({ workchain: 0, publicKey });
    const body = wallet.createTransfer({ ...sent, message: transfers(1)[0]! });
    // A v1 order has no time limit: with one message it is 8 bytes shorter than any known type.
    expect(decode(body)).toBeUndefined();
  });

  it('an order with a bit left over is unknown', () => {
    for (const [, , body] of signed.filter(([name]) => name.includes('signed_v'))) {
      const longer = beginCell().storeSlice(body.beginParse()).storeUint(1, 3).endCell();
      expect(decode(longer)).toBeUndefined();
    }
  });

  it('an order of a v5 from its extension is decoded, with actions of its own', () => {
    const more = beginCell().storeUint(2, 8).storeAddress(receiver).endCell();
    const body = beginCell()
      .storeUint(0x6578746e, 32)
      .storeUint(3, 64)
      .storeBit(true)
      .storeRef(outList(2))
      .storeBit(true)
      .storeUint(3, 8)
      .storeAddress(receiver)
      .storeRef(more)
      .endCell();
    expect(decode(body)).toMatchObject({
      '@type': 'w5_extension_action_request',
      query_id: '3',
      request: {
        out_actions: {
          '@type': 'something_from_maybe',
          value: { cell_reference: { '@type': 'out_list', prev: { prev: { '@type': 'out_list_empty' } } } },
        },
        extended_actions: {
          '@type': 'something_from_maybe',
          value: {
            '@type': 'extended_list_action',
            action: { '@type': 'delete_extension', addr: receiverShown },
            prev: { '@type': 'extended_list_last', action: { '@type': 'add_extension' } },
          },
        },
      },
    });
  });
});
