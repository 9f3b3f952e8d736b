import { Address, beginCell, Cell, contractAddress, internal, loadMessage, type MessageRelaxed } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { shownIn, transactionsIn, type ShownTrace } from '#test/service/emulate/emulate-under-test.ts';
import { post } from '#test/service/http/requests.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { openEmulateClient, type EmulateClient } from '#test/support/emulate-client.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { jettonOrder } from '#test/support/jetton-order.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { transfer, type TestWallet } from '#test/support/wallet.ts';

const raw = (address: Address): string => address.toRawString().toUpperCase();

describe('an emulation with an index', () => {
  let forked: ForkedNetwork;
  let index: StoreUnderTest;
  let api: Omit<ApiUnderTest, 'network'>;
  let client: EmulateClient;

  beforeAll(async () => {
    forked = await startForkedNetwork();
    index = await createMigratedStore(import.meta.filename);
    const options = { postgresUrl: index.url, writesIndex: true };
    api = await startApiOver(forked.network, options);
    client = await openEmulateClient(api);
    await untilIndexed(index.store, forked.network.head().id.seqno);
  });
  afterAll(async () => {
    await api.close();
    await index.close();
  });

  async function emulate(wallet: TestWallet, message: MessageRelaxed): Promise<ShownTrace> {
    return emulateBoc(wallet.send(0, [message]));
  }

  async function emulateBoc(boc: Buffer): Promise<ShownTrace> {
    const flags = { with_actions: true, include_address_book: true, include_metadata: true };
    return shownIn(await client.post('emulateTrace', { boc: boc.toString('base64'), ...flags }));
  }

  it('has interfaces of the accounts as the trace leaves them', async () => {
    const w3 = forked.wallet('w3');
    const to = Address.parseRaw(`0:${'b'.repeat(64)}`);
    const order = jettonOrder(forked.address('jetton_wallet_w3'), { to, amount: 5n, back: w3.address });
    const shown = await emulate(w3, order);
    const deployed = transactionsIn(shown).find(
      ({ account_state_before: before, account_state_after: after }) =>
        before.account_status === 'nonexist' && after.account_status === 'active',
    )!;
    expect(shown.address_book![deployed.account]).toMatchObject({ domain: null, interfaces: ['jetton_wallet'] });
    expect(shown.address_book![raw(w3.address)]).toMatchObject({ interfaces: ['wallet_v4r2'] });
    expect(shown.metadata![deployed.account]).toEqual({
      is_indexed: true,
      token_info: [
        {
          valid: true,
          type: 'jetton_wallets',
          extra: { owner: raw(to), jetton: raw(forked.address('jetton_minter')), balance: '5' },
        },
      ],
    });
    // The index would have the metadata of the master, which no block of this network has changed.
    expect(Object.keys(shown.address_book!)).toContain(raw(forked.address('jetton_minter')));
  });

  it('has metadata of a token that the trace itself deploys', async () => {
    const [w1, minter] = [forked.wallet('w1'), forked.contract('jetton_minter')];
    const known = minter.data.beginParse();
    const [supply, , content, walletCode] = [
      known.loadCoins(),
      known.loadMaybeAddress(),
      known.loadRef(),
      known.loadRef(),
    ];
    const data = beginCell()
      .storeCoins(supply + 1n)
      .storeAddress(w1.address)
      .storeRef(content)
      .storeRef(walletCode)
      .endCell();
    const init = { code: minter.code, data };
    const address = contractAddress(0, init);
    const shown = await emulate(w1, internal({ to: address, value: 100_000_000n, bounce: false, init }));
    const token = shown.metadata![raw(address)] as { is_indexed: boolean; token_info: Record<string, unknown>[] };
    expect(token).toMatchObject({ is_indexed: true, token_info: [{ valid: true, type: 'jetton_masters' }] });
    expect(token.token_info[0]!['symbol']).toEqual(expect.any(String));
    expect(shown.address_book![raw(address)]).toMatchObject({ interfaces: ['jetton_master'] });
    // The chain does not have the token, and neither does the index.
    const found = await fetch(`${api.api.url}/api/v3/jetton/masters?address=${encodeURIComponent(raw(address))}`, {
      headers: { 'x-api-key': api.key },
    });
    expect(await found.json()).toMatchObject({ jetton_masters: [] });
  });

  it('has the fees that estimateFee of v2 and of v3 gives for the message', async () => {
    const w3 = forked.wallet('w3');
    const order = jettonOrder(forked.address('jetton_wallet_w3'), { to: w3.address, amount: 5n, back: w3.address });
    const payments = [1, 2, 3].map((value) => transfer(forked.wallet('w2').address, BigInt(value)));
    for (const messages of [[transfer(forked.wallet('w1').address, 1_000_000n)], [order, ...payments]]) {
      const boc = w3.send(0, messages);
      const shown = await emulateBoc(boc);
      const { description, total_fees: total } = shown.transactions[shown.trace.tx_hash] as unknown as Charged;
      const { storage_ph: storage, compute_ph: compute, action } = description;
      const [storageFee, gasFee] = [Number(storage.storage_fees_collected), Number(compute.gas_fees)];
      const emulated = {
        in_fwd_fee: Number(total) - storageFee - gasFee - Number(action.total_action_fees),
        storage_fee: storageFee,
        gas_fee: gasFee,
        fwd_fee: Number(action.total_fwd_fees),
      };
      const body = loadMessage(Cell.fromBoc(boc)[0]!.beginParse()).body.toBoc().toString('base64');
      const call = { address: raw(w3.address), body, ignore_chksig: false };
      const { result } = (await api.post('estimateFee', call)).body as { result: { source_fees: object } };
      const url = `${api.api.url}/api/v3/estimateFee`;
      const v3 = await post(url, JSON.stringify(call), { 'x-api-key': api.key });
      expect(result.source_fees).toEqual({ '@type': 'fees', ...emulated });
      expect(v3.body['source_fees']).toEqual(emulated);
    }
  });
});

/** Fees in a transaction of an answer. */
type Charged = {
  readonly total_fees: string;
  readonly description: {
    readonly storage_ph: { readonly storage_fees_collected: string };
    readonly compute_ph: { readonly gas_fees: string };
    readonly action: { readonly total_fwd_fees: string; readonly total_action_fees: string };
  };
};
