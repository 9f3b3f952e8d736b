import { Address, beginCell, Cell } from '@ton/core';

import { formatRawAddress } from '#service/decode/address.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type { ChangedAccount, DetectionWorld } from '#service/interfaces/detector.ts';
import type { AccountView } from '#service/live/accounts/account-view.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import { methodIdOf } from '#service/tvm/method-id.ts';
import { sliceEntry, type StackEntry } from '#service/tvm/stack.ts';

/** Answer of a get-method to its arguments: a result, an exit code, or `unreadable`. */
export type Said = readonly StackEntry[] | number | 'unreadable';
type Method = Said | ((stack: readonly StackEntry[]) => Said);

/** Contract defined by its get-methods. */
export type Contract = {
  readonly methods: Readonly<Record<string, Method>>;
  /** Code and data. Only their hashes count here. */
  readonly code?: Cell | null;
  readonly data?: Cell | null;
  /** Number of its last transaction, which identifies its state. */
  readonly transaction?: number;
};

/** World of detection with scripted contracts. It records the methods that are run. */
export type ScriptedWorld = DetectionWorld & {
  readonly asked: { readonly account: AccountId; readonly methods: readonly number[] }[];
  readonly read: AccountId[];
};

/** Gas until code finds that it has no such method. */
const NO_METHOD_GAS = 200n;

/** @param contracts by raw address, lower case */
export function scriptedWorld(contracts: Readonly<Record<string, Contract>>, dnsRoot?: AccountId): ScriptedWorld {
  const asked: { account: AccountId; methods: readonly number[] }[] = [];
  const read: AccountId[] = [];

  function say(account: AccountId, methodId: number, stack: readonly StackEntry[]) {
    const methods = contracts[formatRawAddress(account)]?.methods ?? {};
    const [, method] = Object.entries(methods).find(([name]) => methodIdOf(name) === methodId) ?? [];
    const said = typeof method === 'function' ? method(stack) : method;
    if (said === 'unreadable') return undefined;
    if (said === undefined) return { exitCode: 11, gasUsed: NO_METHOD_GAS, stack: [int(methodId)] };
    if (typeof said === 'number') return { exitCode: said, gasUsed: NO_METHOD_GAS, stack: [int(0)] };
    return { exitCode: 0, gasUsed: 1_000n, stack: said };
  }

  function view(account: AccountId): AccountView {
    const contract = contracts[formatRawAddress(account)];
    const [code, data] = [boc(contract?.code, contract), boc(contract?.data, contract)];
    const lt = BigInt(contract?.transaction ?? 1);
    const hash = Buffer.alloc(32, Number(lt));
    const hashes = { codeHash: hashOf(code), dataHash: hashOf(data), stateHash: hash };
    return { account, code, data, ...hashes, lastTransaction: { lt, hash } } as AccountView;
  }

  return {
    asked,
    read,
    readAccount: async (account) => {
      read.push(account);
      return view(account);
    },
    runMethods: async ({ account, calls }) => {
      asked.push({ account, methods: calls.map(({ methodId }) => methodId) });
      return { account: view(account), runs: calls.map(({ methodId, stack }) => say(account, methodId, stack)) };
    },
    runMethod: async ({ account, methodId, stack }) => {
      const said = say(account, methodId, stack) ?? { exitCode: 4, gasUsed: 0n, stack: [] };
      return { ...said, account: view(account) };
    },
    readDnsRoot: async () => dnsRoot,
  };
}

/** Returns the contract as a changed account of a block, with its methods or with code of an unknown shape. */
export function changed(account: AccountId, contract: Contract, methods?: null): ChangedAccount {
  const ids = Object.keys(contract.methods).map(methodIdOf);
  const code = contract.code ?? DEFAULT_CELL;
  return { account, codeHash: code.hash(), methods: methods === null ? null : ids };
}

const DEFAULT_CELL = beginCell().storeUint(0xc0de, 16).endCell();

function boc(cell: Cell | null | undefined, contract: Contract | undefined): Buffer | null {
  if (contract === undefined || cell === null) return null;
  return (cell ?? DEFAULT_CELL).toBoc();
}

function hashOf(bag: Buffer | null): Buffer | null {
  return bag && Cell.fromBoc(bag)[0]!.hash();
}

/** Returns an account without further properties. */
export function accountNumber(byte: number, workchain = 0): AccountId {
  return { workchain, id: Buffer.alloc(32, byte) };
}

export const int = (value: number | bigint): StackEntry => ({ type: 'int', value: BigInt(value) });
export const nothing: StackEntry = { type: 'null' };

export function cellEntry(from: Cell): StackEntry & { type: 'cell' } {
  const table = parseBoc(from.toBoc());
  return { type: 'cell', table, cell: table.roots[0]! };
}

export const sliceOf = (from: Cell): StackEntry => sliceEntry(cellEntry(from));

/** Returns an address in a slice; `addr_none` for null. */
export function addressOf(account: AccountId | null): StackEntry {
  return sliceOf(
    beginCell()
      .storeAddress(account && new Address(account.workchain, account.id))
      .endCell(),
  );
}

/** An external address in a slice. */
export const externalAddress = sliceOf(beginCell().storeUint(1, 2).storeUint(8, 9).storeUint(7, 8).endCell());

/** Returns content that is outside of the chain. */
export const contentOf = (uri: string): Cell => beginCell().storeUint(1, 8).storeStringTail(uri).endCell();

export const emptyCell = Cell.EMPTY;

/** Returns the same stack with another entry at one position. */
export function replaced(stack: readonly StackEntry[], index: number, entry: StackEntry): StackEntry[] {
  return stack.map((one, place) => (place === index ? entry : one));
}
