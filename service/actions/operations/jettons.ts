import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { RawCell, type ExoticCell } from '#service/decode/messages/decoded.ts';
import { callOf, readComment, type Call } from '../engine/basic-blocks.ts';
import { isAborted, type TraceFragment, type NewFragment } from '../engine/trace-fragment.ts';
import {
  body,
  cellBoc,
  coins,
  maybeAddress,
  maybeCell,
  peek,
  tryRead,
  uint32,
  uint64,
  type FieldReader,
} from '../engine/body.ts';
import type { DataValue } from '../engine/columns.ts';
import type { EventMessage } from '../engine/classifier-input.ts';
import type { Interfaces } from '../engine/interfaces.ts';
import type { Matcher } from '../engine/matcher.ts';
import { as, call, first, maybe, followedBy, type Context } from '../engine/pattern.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Jettons (TEP-74): transfers, burns, mints.

export const transferOpcode = 0x0f8a7ea5;
export const internalTransferOpcode = 0x178d4519;
export const notifyOpcode = 0x7362d09c;
export const burnOpcode = 0x595f07bc;
export const burnNotificationOpcode = 0x7bdd97de;

type PassedOn = RawCell | ExoticCell | null;

/** Null without bits, wherever it lies: wallets often send an empty cell. */
const filledPayload: FieldReader<PassedOn> = (slice) => {
  if (slice.remainingBits === 0) return null;
  const found = maybeCell(slice) ?? new RawCell(slice.clone());
  return found instanceof RawCell && found.slice.remainingBits === 0 ? null : found;
};

/** Readable part of a forwarded cell; null for an exotic cell, which no slice opens. */
const readable = (cell: PassedOn): ContractSlice | null => (cell instanceof RawCell ? cell.slice : null);

export const transferBody = body({
  queryId: uint64,
  amount: coins,
  destination: maybeAddress,
  responseDestination: maybeAddress,
  customPayload: maybeCell,
  forwardAmount: coins,
  forwardPayload: filledPayload,
});

export const internalTransferBody = body({
  queryId: uint64,
  amount: coins,
  from: maybeAddress,
  responseDestination: maybeAddress,
  forwardAmount: coins,
});

export const burnBody = body({ queryId: uint64, amount: coins, responseDestination: maybeAddress });

/** Data of a transfer that other families read. */
export type JettonTransfer = {
  readonly queryId: bigint;
  readonly amount: bigint;
  readonly sender: string | null;
  readonly senderWallet: string;
  readonly receiver: string | null;
  readonly receiverWallet: string | null;
  /** The master. */
  readonly jetton: string | null;
  readonly forwardPayload: ContractSlice | null;
  readonly hasInternalTransfer: boolean;
};

export const jettonTransferType = 'jetton_transfer';

export function jettonTransferOf(block: TraceFragment | undefined): JettonTransfer | undefined {
  return block?.type === jettonTransferType ? (block.data as JettonTransfer) : undefined;
}

export type JettonBurn = {
  readonly owner: string;
  readonly wallet: string;
  readonly jetton: string;
  readonly amount: bigint;
};
export const jettonBurnType = 'jetton_burn';

export function jettonBurnOf(block: TraceFragment | undefined): JettonBurn | undefined {
  return block?.type === jettonBurnType ? (block.data as JettonBurn) : undefined;
}

/** Masters of proxy TON: their wallets stand for TON. */
export const proxyTonMasters: ReadonlySet<string> = new Set([
  '0:8CDC1D7640AD5EE326527FC1AD0514F468B30DC84B0173F0E155F451B4E11F7C',
  '0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3',
  '0:949C4C66760C002800E2FA3D8A3CA4E1C90A9373B53AE7472033483BF14CD95E',
]);

const TEXT = 0;
const ENCRYPTED = 0x2167da4b;

/** A text in a payload, plain or encrypted, as transfers show it. */
function payloadComment(forwardPayload: ContractSlice | null): {
  readonly comment: string | null;
  readonly is_encrypted_comment: boolean;
} {
  const none = { comment: null, is_encrypted_comment: false };
  if (forwardPayload === null || forwardPayload.remainingBits < 32) return none;
  const found = peek(forwardPayload, (slice) => {
    const tag = slice.uint(32);
    if (tag !== TEXT && tag !== ENCRYPTED) return undefined;
    return { comment: readComment(slice, tag === ENCRYPTED), is_encrypted_comment: tag === ENCRYPTED };
  });
  return found?.comment === undefined ? none : { ...found, comment: found.comment };
}

/** The first 32 bits of a payload. */
export function payloadOpcode(forwardPayload: ContractSlice | null): number | undefined {
  return forwardPayload === null ? undefined : peek(forwardPayload, uint32);
}

/** Asserted by patterns: the block is a call between accounts. */
export function innerCall(block: TraceFragment): Call & { readonly source: string; readonly destination: string } {
  const found = callOf(block)!;
  return { ...found, source: found.message.source ?? '', destination: found.message.destination ?? '' };
}

function transferData(
  read: ReturnType<typeof transferBody>,
  forwardAmount: bigint,
): Readonly<Record<string, DataValue>> {
  const { customPayload, forwardPayload } = read;
  return {
    response_destination: read.responseDestination,
    forward_amount: forwardAmount,
    query_id: read.queryId,
    custom_payload: customPayload === null ? null : cellBoc(customPayload),
    forward_payload: forwardPayload === null ? null : cellBoc(forwardPayload),
    ...payloadComment(readable(forwardPayload)),
  };
}

/** To a wallet that takes it over from the sender's wallet. */
const transfer: Matcher<Type> = {
  pattern: followedBy(
    call(transferOpcode),
    as('internal', followedBy(call(internalTransferOpcode), maybe(call(notifyOpcode)))),
  ),
  build(root, found, { interfaces }) {
    const { message, source, destination: senderWallet } = innerCall(root);
    const internal = innerCall(found.one('internal')!);
    const receiverWallet = internal.destination;
    // The contract that refuses jettons may be no wallet. The order then names the intended receiver.
    const refusedOwner = (block: TraceFragment) => {
      const sender = isAborted(block) ? interfaces.jettonWallet(senderWallet) : undefined;
      return sender && { owner: read.destination, jetton: sender.jetton };
    };
    const read = transferBody(message);
    if (read.destination === null) return undefined;
    const wallet = interfaces.jettonWallet(receiverWallet) ?? refusedOwner(found.one('internal')!);
    if (wallet === undefined) return undefined;
    // Wallets of a nonstandard kind may notify each other in another form. The ordered values count then.
    const { amount, forwardAmount } = tryRead(() => internalTransferBody(internal.message)) ?? read;
    return {
      type: jettonTransferType,
      columns: {
        source,
        sourceSecondary: senderWallet,
        destination: wallet.owner,
        destinationSecondary: receiverWallet,
        asset: wallet.jetton,
        amount,
        data: { jetton_transfer_data: transferData(read, forwardAmount) },
      },
      data: {
        queryId: read.queryId,
        amount,
        sender: source,
        senderWallet,
        receiver: wallet.owner,
        receiverWallet,
        jetton: wallet.jetton,
        forwardPayload: readable(read.forwardPayload),
        hasInternalTransfer: true,
      } satisfies JettonTransfer,
      failed: isAborted(root) || isAborted(found.one('internal')!),
    };
  },
};

/** Transfer that a wallet was only ordered to make: values of the order and the master of the sending wallet. Throws DecodeError. */
export function jettonTransferOfOrder(
  message: EventMessage,
  interfaces: Interfaces,
): Pick<NewFragment, 'type' | 'columns'> | undefined {
  if (message.opcode !== transferOpcode) return undefined;
  const read = transferBody(message);
  const wallet = interfaces.jettonWallet(message.destination ?? '');
  return {
    type: jettonTransferType,
    columns: {
      source: message.source,
      sourceSecondary: message.destination,
      destination: read.destination,
      asset: wallet?.jetton ?? null,
      amount: read.amount,
      data: { jetton_transfer_data: transferData(read, read.forwardAmount) },
    },
  };
}

/** Transfer of proxy TON: its wallet pays at once, without a second wallet. */
const proxyTonTransfer: Matcher<Type> = {
  pattern: followedBy({ ...call(transferOpcode), test: isProxyTonTransfer }, maybe(call(notifyOpcode))),
  build(root, _found, { interfaces }) {
    const { message, source, destination: senderWallet } = innerCall(root);
    const read = transferBody(message);
    const jetton = interfaces.jettonWallet(senderWallet)!.jetton;
    const { amount } = read;
    return {
      type: jettonTransferType,
      columns: {
        source,
        destination: read.destination,
        asset: jetton,
        amount,
        data: { jetton_transfer_data: transferData(read, read.forwardAmount) },
      },
      data: {
        queryId: read.queryId,
        amount,
        sender: source,
        senderWallet,
        receiver: read.destination,
        receiverWallet: null,
        jetton,
        forwardPayload: readable(read.forwardPayload),
        hasInternalTransfer: false,
      } satisfies JettonTransfer,
      failed: isAborted(root),
    };
  },
};

function isProxyTonTransfer(block: TraceFragment, { interfaces }: Context): boolean {
  const found = callOf(block);
  if (found?.opcode !== transferOpcode) return false;
  const wallet = interfaces.jettonWallet(found.message.destination ?? '');
  return wallet !== undefined && proxyTonMasters.has(wallet.jetton);
}

const burn: Matcher<Type> = {
  pattern: followedBy(call(burnOpcode), maybe(as('notification', call(burnNotificationOpcode)))),
  build(root, found, { interfaces }) {
    const { message, destination: wallet } = innerCall(root);
    const known = interfaces.jettonWallet(wallet);
    if (known === undefined) return undefined;
    const { amount } = burnBody(message);
    const { owner, jetton } = known;
    return {
      type: jettonBurnType,
      columns: { source: owner, sourceSecondary: wallet, asset: jetton, amount },
      data: { owner, wallet, jetton, amount } satisfies JettonBurn,
      failed: isAborted(root) || found.all('notification').some(isAborted),
    };
  },
};

export type JettonMint = {
  readonly receiver: string | null;
  readonly wallet: string | null;
  readonly jetton: string;
  readonly amount: bigint | null;
};
export const jettonMintType = 'jetton_mint';

export function jettonMintOf(block: TraceFragment | undefined): JettonMint | undefined {
  return block?.type === jettonMintType ? (block.data as JettonMint) : undefined;
}

const PLAIN_MINT = 0x642b7d07;
const MINTER_MINT = 0x00000015;

const mintBody = body({ queryId: uint64, to: maybeAddress, tonAmount: coins });
const minterMintBody = body({
  queryId: uint64,
  to: maybeAddress,
  tonAmount: coins,
  amount: (slice) => {
    const inner = slice.refSlice();
    inner.skip(32 + 64);
    return inner.coins();
  },
});

const notify = maybe(call(notifyOpcode));

const mint: Matcher<Type> = {
  pattern: followedBy(
    call(PLAIN_MINT, MINTER_MINT),
    maybe(first(as('internal', followedBy(call(internalTransferOpcode), notify)), call(notifyOpcode))),
  ),
  build(root, found, { interfaces }) {
    const { message, opcode, destination: minter } = innerCall(root);
    const internal = found.one('internal');
    // Other contracts use this opcode too. Orders of a minter are distinct by the message that it is to send.
    const stated = opcode === MINTER_MINT ? minterMintBody(message) : undefined;
    const { to, tonAmount } = stated ?? mintBody(message);
    const wallet = internal === undefined ? null : innerCall(internal).destination;
    const known = wallet === null ? undefined : interfaces.jettonWallet(wallet);
    if (wallet !== null && known === undefined) return undefined;
    const amount =
      internal === undefined ? (stated?.amount ?? null) : internalTransferBody(innerCall(internal).message).amount;
    const receiver = known?.owner ?? to;
    const jetton = known?.jetton ?? minter;
    return {
      type: jettonMintType,
      columns: { destination: receiver, destinationSecondary: wallet, asset: jetton, amount, value: tonAmount },
      data: { receiver, wallet, jetton, amount } satisfies JettonMint,
      failed: internal === undefined || isAborted(root) || isAborted(internal),
    };
  },
};

/** Types of jettons. */
const types = {
  jetton_transfer: {
    words: ['Jetton transfer', '{@sender} sends {#amount/asset} to {@receiver}[: {"comment}]'],
    since: 'v1',
    groups: ['jettons'],
    isIndivisible: true,
    details: {
      asset: 'address asset',
      sender: 'address source',
      receiver: 'address destination',
      sender_jetton_wallet: 'address sourceSecondary',
      receiver_jetton_wallet: 'address destinationSecondary',
      amount: 'amount amount',
      comment: 'text jetton_transfer_data.comment',
      is_encrypted_comment: 'flag jetton_transfer_data.is_encrypted_comment',
      query_id: 'amount jetton_transfer_data.query_id',
      response_destination: 'address jetton_transfer_data.response_destination',
      custom_payload: 'text jetton_transfer_data.custom_payload',
      forward_payload: 'text jetton_transfer_data.forward_payload',
      forward_amount: 'amount jetton_transfer_data.forward_amount',
    },
  },
  jetton_burn: {
    words: ['Jetton burn', '{@owner} burns {#amount/asset}'],
    since: 'v1',
    groups: ['jettons'],
    isIndivisible: true,
    details: {
      owner: 'address source',
      owner_jetton_wallet: 'address sourceSecondary',
      asset: 'address asset',
      amount: 'amount amount',
    },
  },
  jetton_mint: {
    words: ['Jetton mint', '{#amount/asset} are minted for {@receiver}'],
    since: 'v1',
    groups: ['jettons'],
    isIndivisible: true,
    details: {
      asset: 'address asset',
      receiver: 'address destination',
      receiver_jetton_wallet: 'address destinationSecondary',
      amount: 'amount amount',
      ton_amount: 'amount value',
    },
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of jettons. */
export const jettons = { types, matchers: { transfer, proxyTonTransfer, burn, mint } } satisfies Family;
