import { Address, beginCell, internal, type MessageRelaxed } from '@ton/core';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';

import type { Action } from '#service/actions/engine/action-rows.ts';
import { readExternalMessage } from '#service/live/send/external-message.ts';
import type { IndexedTrace, Pending, PendingFilter, PendingTrace } from '#service/pending/pending.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { jettonOrder } from '#test/support/jetton-order.ts';
import { putAccount } from '#test/support/put-account.ts';
import { scriptedCode, scriptedData, type Response } from '#test/support/scripted-contract.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { transfer, type TestWallet } from '#test/support/wallet.ts';
import { classified, startPendingNetwork, whole, type PendingNetwork } from './pending-under-test.ts';
import { openGoodLink } from './redis-under-test.ts';

const redisUrl = inject('redisUrl');

const raw = (address: Address): string => address.toRawString().toUpperCase();
const accountOf = (address: Address) => ({ workchain: address.workChain, id: address.hash });

const only = (actions: readonly Action[] | undefined, type: string): Action | undefined =>
  actions?.find((action) => action.type === type);

describe.skipIf(skipLoudly(redisUrl === undefined, { what: 'actions of pending traces', why: 'there is no Redis' }))(
  'what a sent message means',
  () => {
    let forked: ForkedNetwork;
    let setting: PendingNetwork;
    let pods: [Pending, Pending];
    /** Of each wallet of the network. */
    const seqnos = new Map<TestWallet, number>();

    beforeAll(async () => {
      forked = await startForkedNetwork();
      setting = await startPendingNetwork(forked.network);
      pods = [setting.open(await openGoodLink(redisUrl!)), setting.open(await openGoodLink(redisUrl!))];
    });
    afterAll(() => setting.close());

    /** A message from outside of a wallet that sends these. */
    function order(wallet: TestWallet, ...messages: MessageRelaxed[]): Buffer {
      const seqno = seqnos.get(wallet) ?? 0;
      seqnos.set(wallet, seqno + 1);
      return wallet.send(seqno, messages);
    }

    /** What another pod than the one that sent it tells. */
    async function simulated(filter: PendingFilter): Promise<PendingTrace | undefined> {
      const [trace] = await pods[1].find({ ...filter, wanted: 'actions' });
      return trace;
    }

    async function indexed(hash: Buffer, how: IndexedTrace): Promise<void> {
      setting.index.taken.set(hash.toString('hex'), how);
      setting.index.seqno = setting.pool.head()!.block.seqno;
      await pods[0].refresh();
    }

    it('is shown by every pod before a block has it: jettons for an account without a wallet', async () => {
      const w3 = forked.wallet('w3');
      const stranger = Address.parseRaw(`0:${'b'.repeat(64)}`);
      const sent = jettonOrder(forked.address('jetton_wallet_w3'), {
        to: stranger,
        amount: 1_500_000n,
        back: w3.address,
      });
      const { hash, normalizedHash } = await setting.send(pods[0], order(w3, sent));
      // The receiver has no transaction in the trace: it is found by the action.
      expect(await simulated({ accounts: [accountOf(stranger)] })).toBeUndefined();
      const trace = await simulated({ actionAccounts: [accountOf(stranger)] });
      expect(trace).toMatchObject({ messageHash: hash, classificationState: 'ok' });
      expect(only(trace!.actions, 'jetton_transfer')).toMatchObject({
        source: raw(w3.address),
        sourceSecondary: raw(forked.address('jetton_wallet_w3')),
        destination: raw(stranger),
        asset: raw(forked.address('jetton_minter')),
        amount: 1_500_000n,
        success: true,
        mcSeqnoEnd: 0,
      });
      expect(trace!.actions.map(({ type }) => type).toSorted()).toEqual(['contract_deploy', 'jetton_transfer']);
      expect((await pods[0].find({ actionAccounts: [accountOf(stranger)] }))[0]).toEqual(trace);

      // In a block, then indexed, and told until the real ones are.
      await setting.step();
      await setting.step();
      await pods[0].refresh();
      expect(await simulated({ hashes: [hash] })).toBeDefined();
      await indexed(normalizedHash, whole);
      expect(await pods[1].find({ hashes: [hash] })).toMatchObject([{ transactions: [] }]);
      expect((await simulated({ hashes: [hash] }))?.actions).toEqual(trace!.actions);
      await indexed(normalizedHash, classified);
      expect(await simulated({ hashes: [hash] })).toBeUndefined();
    });

    it('changes with the accounts of the trace: jettons come that an order lacked', async () => {
      const [w6, w7] = [forked.wallet('w6'), forked.wallet('w7')];
      const [from, to] = [forked.address('jetton_wallet_w6'), forked.address('w0')];
      const wanted = { to, amount: 700_000_000_000n, back: w7.address };
      const message = readExternalMessage(order(w7, jettonOrder(forked.address('jetton_wallet_w7'), wanted)));
      // A lite server has it and no block takes it: the test keeps it from the network.
      pods[0].note(message, {});
      await pods[0].refresh();
      const before = await simulated({ hashes: [message.hash] });
      expect(only(before?.actions, 'jetton_transfer')).toBeUndefined();
      expect(before?.actions.some(({ success }) => !success)).toBe(true);

      setting.network.send(
        order(w6, jettonOrder(from, { to: w7.address, amount: 700_000_000_000n, back: w6.address })),
      );
      await setting.step();
      await setting.step();
      await pods[0].refresh();
      const after = await simulated({ hashes: [message.hash] });
      expect(only(after?.actions, 'jetton_transfer')).toMatchObject({ amount: wanted.amount, success: true });
      expect(await simulated({ actionAccounts: [accountOf(to)] })).toEqual(after);
    });

    it('has a contract that the message destroys as it was before', async () => {
      const [item, w2, w5] = [forked.address('nft_2'), forked.wallet('w2'), forked.wallet('w5')];
      const sale = Address.parseRaw(`0:${'e'.repeat(64)}`);
      const give = (to: Address): MessageRelaxed =>
        internal({
          to: item,
          value: 500_000_000n,
          body: beginCell()
            .storeUint(0x5fcc3d14, 32)
            .storeUint(1, 64)
            .storeAddress(to)
            .storeAddress(to)
            .storeBit(false)
            .storeCoins(0)
            .storeBit(false)
            .endCell(),
        });
      const { network } = setting;
      const script: Response = { destroyed: [give(w5.address), transfer(w2.address, 1n)] };
      const gives = [0x46495850n, 0n, 1n, sale, item, w2.address, 3_000_000_000n, sale, 0n, sale, 0n];
      const code = scriptedCode({ get_sale_data: { gives } });
      network.send(order(w2, give(sale)));
      await setting.step();
      await setting.step();
      await network.step([putAccount(accountOf(sale), { code, data: scriptedData([script]) })]);
      await setting.step();
      const { hash } = await setting.send(pods[0], order(w5, transfer(sale, 4_000_000_000n)));
      const trace = await simulated({ hashes: [hash] });
      expect(trace?.states.some(({ status }) => status === 'nonexist')).toBe(true);
      expect(only(trace?.actions, 'nft_purchase')).toMatchObject({
        destination: raw(w5.address),
        assetSecondary: raw(item),
        data: { nft_transfer_data: { price: 3_000_000_000n, real_prev_owner: raw(w2.address) } },
        success: true,
      });
    });

    it('goes with its actions when a block takes another message instead', async () => {
      const w4 = forked.wallet('w4');
      const [own, to] = [forked.address('jetton_wallet_w4'), Address.parseRaw(`0:${'c'.repeat(64)}`)];
      const jettons = (amount: bigint) => jettonOrder(own, { to, amount, back: w4.address });
      const { hash } = await setting.send(pods[0], w4.send(0, [jettons(5n)]));
      expect(await simulated({ actionAccounts: [accountOf(to)] })).toMatchObject({ messageHash: hash });
      setting.network.send(w4.send(0, [jettons(6n)]));
      await setting.step();
      await setting.step();
      await pods[0].refresh();
      setting.index.seqno = setting.pool.head()!.block.seqno;
      await pods[0].refresh();
      expect(await simulated({ actionAccounts: [accountOf(to)] })).toBeUndefined();
      expect(await simulated({ hashes: [hash] })).toBeUndefined();
    });

    describe('when contracts cannot be looked into', () => {
      beforeEach(() => {
        setting.looking.broken = true;
      });

      it('is missing, and found when the next block comes', async () => {
        const w8 = forked.wallet('w8');
        const to = Address.parseRaw(`0:${'d'.repeat(64)}`);
        const sent = jettonOrder(forked.address('jetton_wallet_w8'), { to, amount: 9n, back: w8.address });
        const message = readExternalMessage(order(w8, sent));
        pods[0].note(message, {});
        await pods[0].refresh();
        const before = await simulated({ hashes: [message.hash] });
        expect(before).toMatchObject({ classificationState: 'unclassified', actions: [] });
        expect(before!.transactions.length).toBeGreaterThan(2);
        setting.looking.broken = false;
        await setting.step();
        await pods[0].refresh();
        const after = await simulated({ hashes: [message.hash] });
        expect(after?.classificationState).toBe('ok');
        expect(only(after?.actions, 'jetton_transfer')).toMatchObject({ amount: 9n });
      });
    });
  },
);
