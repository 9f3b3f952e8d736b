import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { readMessageAddress } from '#service/decode/tlb/message-address.ts';
import type { AccountId } from '../accounts/accounts.ts';

/** A payment channel between two sides, A and B. Amounts are nanotons, times unix seconds. */
export type PaymentChannel = { readonly config: ChannelConfig; readonly state: ChannelState };

export type ChannelConfig = {
  /** Seconds, signed 32 bits. */
  readonly initTimeout: number;
  readonly closeTimeout: number;
  /** Ed25519, 32 bytes. */
  readonly publicKeyA: Buffer;
  readonly publicKeyB: Buffer;
  readonly addressA: AccountId;
  readonly addressB: AccountId;
  /** Signed 64 bits. */
  readonly channelId: bigint;
};

export type ChannelState =
  | {
      readonly kind: 'init' | 'close';
      readonly signedA: boolean;
      readonly signedB: boolean;
      /** Least amounts of `init`; promised amounts of `close`. */
      readonly minA: bigint;
      readonly minB: bigint;
      readonly expireAt: number;
      readonly a: bigint;
      readonly b: bigint;
    }
  | { readonly kind: 'payout'; readonly a: bigint; readonly b: bigint };

/** `chan_data$_ config:^ChanConfig state:^ChanState = ChanData`. @throws DecodeError */
export function readPaymentChannel(slice: ContractSlice): PaymentChannel {
  return { config: readConfig(slice.refSlice()), state: readState(slice.refSlice()) };
}

/**
 * `chan_config$_ init_timeout:uint32 close_timeout:uint32 a_key:bits256 b_key:bits256 a_addr:^MsgAddressInt
 * b_addr:^MsgAddressInt channel_id:uint64 min_A_extra:Grams`; numbers are shown as signed.
 */
function readConfig(slice: ContractSlice): ChannelConfig {
  return {
    initTimeout: slice.int(32),
    closeTimeout: slice.int(32),
    publicKeyA: slice.hash(),
    publicKeyB: slice.hash(),
    addressA: readAccountId(slice.refSlice()),
    addressB: readAccountId(slice.refSlice()),
    channelId: slice.int64(),
  };
}

function readAccountId(slice: ContractSlice): AccountId {
  const address = readMessageAddress(slice);
  if (address?.kind !== 'internal' || address.bitLength !== 256) {
    throw new DecodeError('bad_value', 'A side of the channel is no account.', { cell: slice.cell });
  }
  return { workchain: address.workchain, id: address.id };
}

/**
 * `chan_state_init$000 signed_A:Bool signed_B:Bool min_A:Grams min_B:Grams expire_at:uint32 A:Grams B:Grams`,
 * `chan_state_close$001 signed_A:Bool signed_B:Bool promise_A:Grams promise_B:Grams expire_at:uint32 A:Grams B:Grams`,
 * `chan_state_payout$010 A:Grams B:Grams`.
 */
function readState(slice: ContractSlice): ChannelState {
  const tag = slice.uint(3);
  if (tag === 2) return { kind: 'payout', a: slice.coins(), b: slice.coins() };
  if (tag > 2) throw new DecodeError('bad_tag', 'The cell is no ChanState.', { cell: slice.cell, found: tag });
  return {
    kind: tag === 0 ? 'init' : 'close',
    signedA: slice.bit(),
    signedB: slice.bit(),
    minA: slice.coins(),
    minB: slice.coins(),
    expireAt: slice.uint(32),
    a: slice.coins(),
    b: slice.coins(),
  };
}

/** State as text, as the node prints values of TL-B types: scalars inline, other values on lines of their own. */
export function describeChannelState(state: ChannelState): string {
  const sums = printCoins('A', state.a) + printCoins('B', state.b);
  if (state.kind === 'payout') return `(chan_state_payout${sums})\n`;
  const least = state.kind === 'init' ? 'min' : 'promise';
  const signed = ` signed_A:${Number(state.signedA)} signed_B:${Number(state.signedB)}`;
  const bounds = printCoins(`${least}_A`, state.minA) + printCoins(`${least}_B`, state.minB);
  return `(chan_state_${state.kind}${signed}${bounds} expire_at:${state.expireAt}${sums})\n`;
}

function printCoins(name: string, value: bigint): string {
  const bytes = value === 0n ? 0 : (value.toString(16).length + 1) >> 1;
  return `\n  ${name}:(nanograms\n    amount:(var_uint len:${bytes} value:${value}))`;
}
