import { Address, beginCell, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { ChainSnapshot, MethodCall } from '#service/live/contracts/chain-snapshot.ts';
import { methodIdOf } from '#service/tvm/method-id.ts';
import { createLiveTokens, type Token } from '#service/live/tokens/tokens.ts';
import { sliceEntry, type StackEntry } from '#service/tvm/stack.ts';
import { TvmError } from '#service/tvm/errors.ts';

/** A contract by its get-methods: a result, or an exit code. */
type Contract = Record<string, readonly StackEntry[] | number | Error>;

const accounts = {
  master: { workchain: 0, id: Buffer.alloc(32, 1) },
  token: { workchain: 0, id: Buffer.alloc(32, 2) },
  owner: { workchain: -1, id: Buffer.alloc(32, 3) },
  other: { workchain: 0, id: Buffer.alloc(32, 4) },
};

const int = (value: number): StackEntry => ({ type: 'int', value: BigInt(value) });
const nothing: StackEntry = { type: 'null' };

function cell(from: Cell): StackEntry & { type: 'cell' } {
  const table = parseBoc(from.toBoc());
  return { type: 'cell', table, cell: table.roots[0]! };
}

function address(account: AccountId | null): StackEntry {
  const value = account && new Address(account.workchain, account.id);
  return sliceEntry(cell(beginCell().storeAddress(value).endCell()));
}

const code = cell(beginCell().storeUint(0xc0de, 16).endCell());
const content = cell(beginCell().storeUint(1, 8).storeStringTail('https://example.org').endCell());
const external = sliceEntry(cell(beginCell().storeUint(1, 2).storeUint(8, 9).storeUint(7, 8).endCell()));

/** Reads `accounts.token` in a world of these two contracts. */
async function read(token: Contract, master: Contract = {}): Promise<{ token: Token; calls: MethodCall[] }> {
  const calls: MethodCall[] = [];
  const world = {
    readAccount: async () => ({ code: Buffer.alloc(1) }),
    async runMethod(call: MethodCall) {
      calls.push(call);
      const contract = call.account.id.equals(accounts.token.id)
        ? token
        : call.account.id.equals(accounts.master.id)
          ? master
          : {};
      const [, result = 11] = Object.entries(contract).find(([name]) => methodIdOf(name) === call.methodId) ?? [];
      if (result instanceof Error) throw result;
      return typeof result === 'number' ? { exitCode: result, stack: [] } : { exitCode: 0, stack: result };
    },
    answer: (value: Token) => ({ value, liteServers: [], cached: false }),
  } as unknown as ChainSnapshot;
  const tokens = createLiveTokens({ network: 'mainnet' }, { worlds: { open: async () => world } });
  const context = { deadlineMs: Infinity, signal: new AbortController().signal };
  const { value } = await tokens.readToken(accounts.token, undefined, context);
  return { token: value, calls };
}

const none = expect.objectContaining({ code: 'not_a_token', message: 'Smart contract is not Jetton or NFT' });

describe('a jetton wallet', () => {
  const data = [int(5), address(accounts.owner), address(accounts.master), code];
  const wallet = { get_wallet_data: data };

  it('is one when the master says that the wallet of its owner is this account', async () => {
    const { token, calls } = await read(wallet, { get_wallet_address: [address(accounts.token)] });
    expect(token).toMatchObject({ kind: 'jettonWallet', balance: 5n, owner: accounts.owner, jetton: accounts.master });
    const asked = calls.find(({ methodId }) => methodId === methodIdOf('get_wallet_address'));
    expect(asked).toMatchObject({ account: accounts.master, stack: [{ type: 'slice' }] });
  });

  it.each([
    ['another account', { get_wallet_address: [address(accounts.other)] }],
    ['the same id in another workchain', { get_wallet_address: [address({ ...accounts.token, workchain: -1 })] }],
    ['nobody', { get_wallet_address: [address(null)] }],
    ['no address', { get_wallet_address: [int(1)] }],
    ['nothing, as it throws', { get_wallet_address: 9 }],
    ['nothing, as it has no such method', {}],
  ])('is none when the master says %s', async (_name, master: Contract) => {
    await expect(read(wallet, master)).rejects.toThrow(none);
  });

  it.each([
    ['an owner outside the chain', [int(5), external, address(accounts.master), code]],
    ['no owner', [int(5), address(null), address(accounts.master), code]],
    ['no master', [int(5), address(accounts.owner), address(null), code]],
    ['no code', [int(5), address(accounts.owner), address(accounts.master), nothing]],
    ['no number', [nothing, address(accounts.owner), address(accounts.master), code]],
    ['three entries', data.slice(0, 3)],
  ])('is none with %s', async (_name, result) => {
    await expect(read({ get_wallet_data: result }, { get_wallet_address: [address(accounts.token)] })).rejects.toThrow(
      none,
    );
  });

  it.each([
    [[int(-1)], true],
    [[int(0)], false],
    [[int(1), int(1)], undefined],
    [[nothing], undefined],
    [11, undefined],
  ] as const)('whose is_claimed gives %o has mintlessIsClaimed %s', async (claimed, expected) => {
    const { token } = await read({ ...wallet, is_claimed: claimed }, { get_wallet_address: [address(accounts.token)] });
    expect(token).toMatchObject({ mintlessIsClaimed: expected });
  });
});

describe('an NFT item', () => {
  const data = [int(-1), int(7), address(accounts.master), address(accounts.owner), content];

  it('has its content from its collection, which must know it', async () => {
    const collection = {
      get_nft_address_by_index: [address(accounts.token)],
      get_nft_content: [cell(beginCell().storeUint(1, 8).storeStringTail('https://whole').endCell())],
    };
    const { token } = await read({ get_nft_data: data }, collection);
    expect(token).toEqual({
      kind: 'nftItem',
      init: true,
      index: 7n,
      collection: accounts.master,
      owner: accounts.owner,
      content: { kind: 'offchain', uri: 'https://whole' },
    });
    await expect(read({ get_nft_data: data }, { get_nft_address_by_index: [address(accounts.other)] })).rejects.toThrow(
      none,
    );
    await expect(read({ get_nft_data: data })).rejects.toThrow(none);
  });

  it('without collection or owner has its own content and leaves them out', async () => {
    const { token } = await read({ get_nft_data: [int(-1), int(0), address(null), address(null), content] });
    expect(token).toMatchObject({
      collection: undefined,
      owner: undefined,
      content: { kind: 'offchain', uri: 'https://example.org' },
    });
  });

  it('that is not set up has neither owner nor content', async () => {
    const empty = [int(0), int(7), address(accounts.master), nothing, nothing];
    const { token } = await read({ get_nft_data: empty }, { get_nft_address_by_index: [address(accounts.token)] });
    expect(token).toMatchObject({ init: false, owner: undefined, content: { kind: 'onchain' } });
  });
});

describe('a token', () => {
  const master = [int(9), int(0), address(null), content, code];

  it('that is several is told by the first kind', async () => {
    const { token } = await read({ get_jetton_data: master, get_collection_data: [int(1), content, address(null)] });
    expect(token).toMatchObject({ kind: 'jettonMaster', mintable: false, admin: undefined });
  });

  it('whose content is of no known form is still one', async () => {
    const odd = cell(beginCell().storeUint(9, 8).endCell());
    const { token } = await read({ get_jetton_data: [int(9), int(-1), address(null), odd, code] });
    expect(token).toMatchObject({ kind: 'jettonMaster', mintable: true, content: { kind: 'onchain' } });
  });

  it('is told past an answer that cannot be shown; a fault of ours is told as one', async () => {
    const deep = new TvmError('stack_too_deep', { detail: 'x' });
    const { token } = await read({ get_jetton_data: deep, get_collection_data: [int(1), content, address(null)] });
    expect(token.kind).toBe('nftCollection');
    const full = new TvmError('tvm_queue_full', { detail: 'x' });
    await expect(read({ get_jetton_data: full })).rejects.toBe(full);
  });
});
