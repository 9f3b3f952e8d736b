import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { walkDictionary } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { keyUint } from '#service/decode/hashmap.ts';

/** A wallet whose owner may spend parts of the balance after certain times only. */
export type RestrictedWallet = {
  readonly seqno: number;
  readonly walletId: number;
  /** Unix seconds; 0: the time that parameter -13 names. */
  readonly startAt: number;
  /** Locked nanotons from this many seconds (signed) after the start on, in order of seconds. */
  readonly limits: readonly { readonly seconds: number; readonly locked: bigint }[];
};

/** Steps that are read: real wallets have some ten. */
const LIMITS_MAX = 1_024;

/**
 * Reads exactly `seqno:uint32 wallet_id:uint32 public_key:uint256 start_at:uint32 limits:(HashmapE 32 Grams)`.
 * Before the first message of its owner the data have another layout.
 * @throws DecodeError
 */
export function readRestrictedWallet(slice: ContractSlice): RestrictedWallet {
  const seqno = slice.uint(32);
  const walletId = slice.uint(32);
  slice.skip(256);
  const startAt = slice.uint(32);
  const root = slice.maybeRefSlice();
  if (slice.remainingBits > 0 || slice.remainingRefs > 0) {
    throw new DecodeError('bad_value', 'The data are not those of a restricted wallet.', { cell: slice.cell });
  }
  const limits: { seconds: number; locked: bigint }[] = [];
  walkDictionary(root, 32, (key, value) => {
    if (limits.length === LIMITS_MAX) {
      throw new DecodeError('too_big', 'The wallet has too many limits.', { limit: LIMITS_MAX });
    }
    limits.push({ seconds: keyUint(key, 32) | 0, locked: value.coins() });
  });
  return { seqno, walletId, startAt, limits: limits.toSorted((a, b) => a.seconds - b.seconds) };
}

/**
 * Result of the wallet's get-method `balance`: the balance minus the amount that the last step up to now locks.
 * Without a start, the time counts as a second before the start.
 * @param startAt unix seconds; 0 when there is none
 * @param utime unix seconds
 */
export function unlockedBalance(
  { limits }: Pick<RestrictedWallet, 'limits'>,
  { balance, startAt, utime }: { readonly balance: bigint; readonly startAt: number; readonly utime: number },
): bigint {
  const passed = startAt === 0 ? -1 : utime - startAt;
  const locked = limits.findLast(({ seconds }) => seconds <= passed)?.locked ?? 0n;
  return balance > locked ? balance - locked : 0n;
}
