import { openContractCell, writeBag } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { readMessageAddress } from '#service/decode/tlb/message-address.ts';
import { TvmError } from '#service/tvm/errors.ts';
import type { AccountId } from '../accounts/accounts.ts';
import type { ChainSnapshot } from '../contracts/chain-snapshot.ts';
import { readAccount } from './dns-records.ts';
import type { Zones } from './dns-zones.ts';
import { LiveError } from '../errors.ts';
import { methodIdOf } from '#service/tvm/method-id.ts';
import { cellOfSlice, sliceEntry } from '#service/tvm/stack.ts';
import type { StackCell, StackEntry } from '#service/tvm/stack.ts';

/** A contract that may be a token: its get-methods by name. */
export type TokenContract = {
  readonly account: AccountId;
  /** The result, the last entry on top; undefined when the method throws or gives fewer entries than `least`. */
  run(method: string, least: number, stack?: readonly StackEntry[]): Promise<readonly StackEntry[] | undefined>;
  /** Another contract in the same block. */
  at(account: AccountId): TokenContract;
  /** Returns the zone of the names of a collection's items; undefined for a collection of something else. */
  zoneOf(collection: AccountId): Promise<string | undefined>;
};

/** A contract whose answer cannot be shown has no good answer; it is no fault of ours. */
const UNREADABLE: ReadonlySet<string> = new Set(['stack_too_deep', 'stack_too_big', 'stack_invalid', 'bad_stack']);

export function createTokenContract(world: ChainSnapshot, account: AccountId, zones: Zones): TokenContract {
  return {
    account,
    async run(method, least, stack = []) {
      try {
        const run = await world.runMethod({ account, methodId: methodIdOf(method), stack });
        const succeeded = run.exitCode === 0 || run.exitCode === 1;
        return succeeded && run.stack.length >= least ? run.stack : undefined;
      } catch (error) {
        if ((error instanceof TvmError || error instanceof LiveError) && UNREADABLE.has(error.code)) return undefined;
        throw error;
      }
    },
    at: (other) => createTokenContract(world, other, zones),
    zoneOf: (collection) => zones(world, collection),
  };
}

export function asInteger(entry: StackEntry | undefined): bigint | undefined {
  return entry?.type === 'int' ? entry.value : undefined;
}

/** A cell, or a slice as one. */
export function asCell(entry: StackEntry | undefined): StackCell | undefined {
  if (entry?.type === 'cell') return entry;
  return entry?.type === 'slice' ? cellOfSlice(entry) : undefined;
}

/** BoC of a cell; undefined for a bag that takes more than one read may. */
export function asBoc(entry: StackEntry | undefined): Buffer | undefined {
  if (entry?.type !== 'cell') return undefined;
  return readOr(() => writeBag(entry));
}

/** The same value as a slice, for a method that reads an address. */
export function asSlice(entry: StackEntry | undefined): StackEntry | undefined {
  const cell = asCell(entry);
  return cell && sliceEntry(cell);
}

/**
 * Address in a slice or a cell: `none` for `addr_none` and for null.
 * Undefined for an external or variable address, an address with anycast, and any other value.
 */
export function asAddress(entry: StackEntry | undefined): AccountId | 'none' | undefined {
  if (entry?.type === 'null') return 'none';
  const cell = asCell(entry);
  if (cell === undefined) return undefined;
  return readOr(() => {
    const slice = openContractCell(cell);
    return readMessageAddress(slice.clone()) === undefined ? 'none' : readAccount(slice);
  });
}

function readOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Undefined for no account. */
export function orNone(address: AccountId | 'none'): AccountId | undefined {
  return address === 'none' ? undefined : address;
}

/** True if a method's first result names this account. Only workchain and id count. */
export function names(result: readonly StackEntry[] | undefined, account: AccountId): boolean {
  const address = asAddress(result?.[0]);
  if (address === undefined || address === 'none') return false;
  return address.workchain === account.workchain && address.id.equals(account.id);
}
