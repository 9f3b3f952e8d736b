import { Address, beginCell, Cell, external, loadMessage, storeMessage } from '@ton/core';
import { TonClient } from '@ton/ton';
import TonWeb from 'tonweb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { knownAccounts, readScenes, type KnownAccount, type Params } from '#test/support/v2-scenes.ts';

/** Its types describe a module with a default export, its code is the class itself. */
const tonweb = TonWeb as unknown as typeof TonWeb.default;

let api: ApiUnderTest;
let scenes: readonly Params[] = [];

beforeAll(async () => {
  api = await startApiUnderTest({ behindBlocks: 0 });
  scenes = await readScenes(api);
});
afterAll(() => api.close());

/** The first scene that has all these parameters. */
function sceneWith(...names: string[]): Record<string, string> {
  const found = scenes.find((scene) => names.every((name) => name in scene));
  if (found === undefined) throw new Error(`no scene of the recording has ${names.join()}`);
  return found as Record<string, string>;
}

const accounts = knownAccounts();

/** An ordinary wallet of the recording: one that sends and receives. */
const wallet = accounts.find(({ what }) => what.startsWith('wallet v3')) as KnownAccount;

const lastShards = () => api.network.head().shards.map(({ block }) => block);

/** Newest shard block with a transaction of the wallet's workchain. */
const firstShard = () => {
  const block = lastShards()[0]!;
  return { workchain: block.workchain, shard: BigInt.asIntN(64, block.shard).toString(), seqno: block.seqno };
};

/** External messages of clients in the recording; each may be sent once. */
const recordedMessage = (): Cell =>
  Cell.fromBase64(scenes.map(({ boc }) => boc).find((boc) => isMessage(boc)) as string);

function isMessage(boc: unknown): boolean {
  try {
    return loadMessage(Cell.fromBase64(String(boc)).beginParse()).info.type === 'external-in';
  } catch {
    return false;
  }
}

/** The same message with another body: a node refuses one that it had. */
function freshMessage(mark: number): { message: Cell; to: Address; body: Cell } {
  const to = Address.parse(wallet.address);
  const body = beginCell().storeUint(mark, 64).endCell();
  return {
    message: beginCell()
      .store(storeMessage(external({ to, body })))
      .endCell(),
    to,
    body,
  };
}

const tonClient = (): TonClient => new TonClient({ endpoint: `${api.api.url}/api/v2/jsonRPC`, apiKey: api.key });

const tonwebProvider = () => new tonweb.HttpProvider(`${api.api.url}/api/v2/jsonRPC`, { apiKey: api.key });

type Drive = () => Promise<void>;

describe('@ton/ton TonClient', () => {
  const address = Address.parse(wallet.address);

  const drives: Readonly<Record<string, Drive>> = {
    async getBalance() {
      for (const account of accounts) {
        const balance = await tonClient().getBalance(Address.parse(account.address));
        expect([account.name, balance]).toEqual([account.name, BigInt(account.balance_at_last)]);
      }
    },
    async getContractState() {
      for (const account of accounts) {
        const state = await tonClient().getContractState(Address.parse(account.address));
        const expected = ['active', 'frozen'].find((name) => name === account.state_at_last) ?? 'uninitialized';
        expect([account.name, state.state, state.blockId.seqno]).toEqual([
          account.name,
          expected,
          api.network.chain.lastSeqno,
        ]);
        const hash = state.code === null ? undefined : Cell.fromBoc(state.code)[0]!.hash().toString('hex');
        expect([account.name, hash]).toEqual([account.name, account.code_hash ?? undefined]);
      }
    },
    async isContractDeployed() {
      expect(await tonClient().isContractDeployed(address)).toBe(true);
      expect(await tonClient().isContractDeployed(new Address(0, Buffer.alloc(32, 0xee)))).toBe(false);
    },
    async getMasterchainInfo() {
      expect(await tonClient().getMasterchainInfo()).toEqual({
        workchain: -1,
        shard: '-9223372036854775808',
        initSeqno: 0,
        latestSeqno: api.network.chain.lastSeqno,
      });
    },
    async getWorkchainShards() {
      const shards = await tonClient().getWorkchainShards(api.network.chain.lastSeqno);
      const expected = lastShards().map(({ workchain, shard, seqno }) => ({
        workchain,
        shard: BigInt.asIntN(64, shard).toString(),
        seqno,
      }));
      expect(shards).toEqual(expected);
    },
    async getShardTransactions() {
      // Every masterchain block runs the special contracts.
      const { seqno } = api.network.head().id;
      const found = await tonClient().getShardTransactions(-1, seqno, '-9223372036854775808');
      expect(found.length).toBeGreaterThan(0);
      for (const { account, lt, hash } of found) {
        const transaction = await tonClient().getTransaction(account, lt, hash);
        expect(transaction?.hash().toString('base64')).toBe(hash);
      }
    },
    async getTransactions() {
      const all = await tonClient().getTransactions(address, { limit: 30 });
      expect(all.length).toBeGreaterThan(0);
      all.slice(1).forEach((transaction, index) => {
        expect([all[index]!.prevTransactionLt, all[index]!.prevTransactionHash]).toEqual([
          transaction.lt,
          BigInt(`0x${transaction.hash().toString('hex')}`),
        ]);
      });
      const { lt, hash } = sceneOfStart(all[0]!);
      const page = await tonClient().getTransactions(address, { limit: 2, lt, hash });
      expect(page.map((one) => one.lt)).toEqual(all.slice(1, 3).map((one) => one.lt));
      const inclusive = await tonClient().getTransactions(address, {
        limit: 1,
        lt,
        hash,
        inclusive: true,
        archival: true,
      });
      expect(inclusive.map((one) => one.lt)).toEqual([all[0]!.lt]);
    },
    async getTransaction() {
      const { address: owner, lt, hash } = sceneWith('address', 'lt', 'hash');
      const transaction = await tonClient().getTransaction(Address.parse(owner!), lt!, hash!);
      expect(transaction?.hash().toString('base64')).toBe(hash);
    },
    async tryLocateResultTx() {
      const { source, destination, created_lt: lt } = sceneWith('source');
      const transaction = await tonClient().tryLocateResultTx(Address.parse(source!), Address.parse(destination!), lt!);
      expect(transaction.inMessage?.info).toMatchObject({ type: 'internal', createdLt: BigInt(lt!) });
    },
    async tryLocateSourceTx() {
      const { source, destination, created_lt: lt } = sceneWith('source');
      const transaction = await tonClient().tryLocateSourceTx(Address.parse(source!), Address.parse(destination!), lt!);
      const sent = transaction.outMessages.values().map(({ info }) => info);
      expect(sent).toContainEqual(expect.objectContaining({ createdLt: BigInt(lt!) }));
    },
    async runMethod() {
      const { stack } = await tonClient().runMethod(address, 'seqno');
      expect(stack.readNumber()).toBeGreaterThanOrEqual(0);
    },
    async callGetMethod() {
      const { gas_used: gas } = await tonClient().callGetMethod(address, 'seqno');
      expect(gas).toBeGreaterThan(0);
    },
    async runMethodWithError() {
      const { exit_code: exitCode } = await tonClient().runMethodWithError(address, 'no_such_method');
      expect(exitCode).toBeGreaterThan(1);
      await expect(tonClient().runMethod(address, 'no_such_method')).rejects.toThrow(/exit_code/);
    },
    async callGetMethodWithError() {
      const { gas_used: gas } = await tonClient().callGetMethodWithError(address, 'no_such_method');
      expect(gas).toBeGreaterThan(0);
    },
    async sendFile() {
      await expect(tonClient().sendFile(recordedMessage().toBoc())).resolves.toBeUndefined();
      // The network has it by now, which is what was asked for.
      await expect(tonClient().sendFile(recordedMessage().toBoc())).resolves.toBeUndefined();
    },
    async sendMessage() {
      const { to, body } = freshMessage(1);
      await expect(tonClient().sendMessage(external({ to, body }))).resolves.toBeUndefined();
    },
    async sendExternalMessage() {
      const { to, body } = freshMessage(2);
      await expect(tonClient().sendExternalMessage({ address: to }, body)).resolves.toBeUndefined();
    },
    async estimateExternalMessageFee() {
      const { address: to, body } = sceneWith('address', 'body');
      const fees = await tonClient().estimateExternalMessageFee(Address.parse(to!), {
        body: Cell.fromBase64(body!),
        initCode: null,
        initData: null,
        ignoreSignature: true,
      });
      expect(fees.source_fees.in_fwd_fee).toBeGreaterThan(0);
    },
    async open() {
      const opened = tonClient().open({
        address,
        getSeqno: async (provider: ReturnType<TonClient['provider']>) =>
          (await provider.get('seqno', [])).stack.readNumber(),
      });
      expect(await (opened as unknown as { getSeqno(): Promise<number> }).getSeqno()).toBeGreaterThanOrEqual(0);
    },
    async provider() {
      const provider = tonClient().provider(address);
      expect((await provider.getState()).state.type).toBe('active');
      const { lt } = (await tonClient().getContractState(address)).lastTransaction!;
      const { hash } = (await tonClient().getContractState(address)).lastTransaction!;
      const [first] = await provider.getTransactions(address, BigInt(lt), Buffer.from(hash, 'base64'), 1);
      expect(first?.lt).toBe(BigInt(lt));
      await expect(provider.external(freshMessage(3).body)).resolves.toBeUndefined();
    },
  };

  it('has no method that is not driven here', () => {
    expect(methodsOf(TonClient)).toEqual(Object.keys(drives).toSorted());
  });

  it.each(Object.entries(drives))('%s', async (_name, drive) => {
    expect.hasAssertions();
    await drive();
  });

  it('gets an error with the reason', async () => {
    const { seqno } = api.network.head().id;
    await expect(tonClient().getWorkchainShards(seqno + 1000)).rejects.toThrow(/LITE_SERVER_NOTREADY|500/);
  });
});

describe('tonweb HttpProvider', () => {
  const { address } = wallet;

  const drives: Readonly<Record<string, Drive>> = {
    async getAddressInfo() {
      expect(await tonwebProvider().getAddressInfo(address)).toMatchObject({
        '@type': 'raw.fullAccountState',
        balance: wallet.balance_at_last,
      });
    },
    async getExtendedAddressInfo() {
      expect(await tonwebProvider().getExtendedAddressInfo(address)).toMatchObject({
        '@type': 'fullAccountState',
        account_state: { '@type': 'wallet.v3.accountState' },
      });
    },
    async getWalletInfo() {
      expect(await tonwebProvider().getWalletInfo(address)).toMatchObject({ wallet: true, account_state: 'active' });
    },
    async getBalance() {
      expect(await tonwebProvider().getBalance(address)).toBe(wallet.balance_at_last);
    },
    async getTransactions() {
      const [first, second] = await tonwebProvider().getTransactions(address, 2);
      const { lt, hash } = second.transaction_id;
      expect(await tonwebProvider().getTransactions(address, 1, lt, hash)).toEqual([second]);
      expect(await tonwebProvider().getTransactions(address, 5, undefined, undefined, lt)).toEqual([first]);
    },
    async sendBoc() {
      expect(await tonwebProvider().sendBoc(freshMessage(4).message.toBoc().toString('base64'))).toEqual({
        '@type': 'ok',
      });
    },
    async sendQuery() {
      // Only the Python server has it, deprecated (service/v2/README.md#legacy-operations).
      await expect(tonwebProvider().sendQuery({ address, body: {} })).rejects.toBe('Unknown method');
    },
    async getEstimateFee() {
      const { address: to, body } = sceneWith('address', 'body');
      const fees = await tonwebProvider().getEstimateFee({ address: to!, body: body!, ignore_chksig: true });
      expect(fees).toMatchObject({ '@type': 'query.fees', source_fees: { '@type': 'fees' } });
    },
    async call() {
      const { stack } = await tonwebProvider().call(address, 'seqno');
      expect(stack[0][0]).toBe('num');
    },
    async call2() {
      expect(Number(await tonwebProvider().call2(address, 'seqno'))).toBeGreaterThanOrEqual(0);
      await expect(tonwebProvider().call2(address, 'no_such_method')).rejects.toThrow(/parse response/);
    },
    async getConfigParam() {
      const cell = await (
        tonwebProvider() as unknown as { getConfigParam(id: number): Promise<{ bits: unknown }> }
      ).getConfigParam(15);
      expect(cell.bits).toBeDefined();
    },
    async getMasterchainInfo() {
      expect(await tonwebProvider().getMasterchainInfo()).toMatchObject({
        last: { seqno: api.network.chain.lastSeqno },
      });
    },
    async getBlockShards() {
      const { shards } = await tonwebProvider().getBlockShards(api.network.chain.lastSeqno);
      expect(shards).toHaveLength(lastShards().length);
    },
    async getBlockTransactions() {
      const { workchain, shard, seqno } = firstShard();
      const all = await tonwebProvider().getBlockTransactions(workchain, shard, seqno);
      expect(all).toMatchObject({ '@type': 'blocks.transactions', incomplete: false });
    },
    async getMasterchainBlockTransactions() {
      const seqno = api.network.chain.lastSeqno;
      const all = await tonwebProvider().getMasterchainBlockTransactions(seqno);
      expect(all.transactions.length).toBeGreaterThan(0);
      const { lt, account } = all.transactions[0];
      const rest = await tonwebProvider().getBlockTransactions(
        -1,
        '-9223372036854775808',
        seqno,
        40,
        lt,
        account.split(':')[1],
      );
      expect(rest.transactions).toEqual(all.transactions.slice(1));
    },
    async getBlockHeader() {
      const { workchain, shard, seqno } = firstShard();
      expect(await tonwebProvider().getBlockHeader(workchain, shard, seqno)).toMatchObject({
        id: { workchain, shard, seqno },
      });
    },
    async getMasterchainBlockHeader() {
      expect(await tonwebProvider().getMasterchainBlockHeader(1)).toMatchObject({ id: { workchain: -1, seqno: 1 } });
    },
  };

  it('has no method that is not driven here', () => {
    expect(methodsOf(tonweb.HttpProvider)).toEqual(['send', 'sendImpl', ...Object.keys(drives)].toSorted());
  });

  it.each(Object.entries(drives))('%s', async (_name, drive) => {
    expect.hasAssertions();
    await drive();
  });

  it('gets an error with the reason', async () => {
    await expect(tonwebProvider().getAddressInfo('x')).rejects.toBe('failed to parse address');
  });
});

function sceneOfStart(transaction: { lt: bigint; hash(): Buffer }): { lt: string; hash: string } {
  return { lt: transaction.lt.toString(), hash: transaction.hash().toString('base64') };
}

/** Names of what a client can do. */
function methodsOf(client: { readonly prototype: object }): string[] {
  return Object.getOwnPropertyNames(client.prototype)
    .filter((name) => name !== 'constructor')
    .toSorted();
}
