import { Address } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { Registry } from 'prom-client';
import { pino } from 'pino';

import { readExternalMessage } from '#service/live/send/external-message.ts';
import { createPending, type Pending } from '#service/pending/pending.ts';
import { actionsOfPending, viewPending, viewPendingTrace } from '#service/v3/views/pending-views.ts';
import { supportedTypes } from '#service/v3/request/action-versions.ts';
import { shownIn, startEmulateUnderTest, type EmulateUnderTest } from '#test/service/emulate/emulate-under-test.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { jettonOrder } from '#test/support/jetton-order.ts';
import { transfer } from '#test/support/wallet.ts';

let forked: ForkedNetwork;
let setting: EmulateUnderTest;
let pending: Pending;

beforeAll(async () => {
  forked = await startForkedNetwork();
  setting = await startEmulateUnderTest(forked.network);
  pending = createPending(
    { scope: 'same', everyMs: 0 },
    {
      worlds: setting.snapshots,
      detector: setting.detector,
      index: { findTaken: () => Promise.resolve(new Map()), lastSeqno: () => Promise.resolve(0) },
      head: () => setting.pool.head(),
      now: () => performance.now(),
      unixMs: () => 0,
      logger: pino({ level: 'silent' }),
      register: new Registry(),
    },
  );
});
afterAll(async () => {
  await pending.close();
  await setting.close();
});

describe('a pending trace and an emulation of the same message at the same head', () => {
  it.each(['jettons', 'two transfers'])('are equal with the seed of pending traces: %s', async (what) => {
    const w3 = forked.wallet(what === 'jettons' ? 'w3' : 'w4');
    const to = Address.parseRaw(`0:${'b'.repeat(64)}`);
    const messages =
      what === 'jettons'
        ? [jettonOrder(forked.address('jetton_wallet_w3'), { to, amount: 1_500_000n, back: w3.address })]
        : [transfer(to, 5n), transfer(forked.address('nft_2'), 1_000_000_000n, true)];
    const boc = w3.send(0, messages);
    const message = readExternalMessage(boc);
    pending.note(message, {});
    await pending.refresh();
    const [found] = await pending.find({ hashes: [message.hash] });
    const [viewed] = await viewPending([found!], {});
    const actions = actionsOfPending(found!, supportedTypes([]));
    const expected = JSON.parse(JSON.stringify(viewPendingTrace(viewed!, actions, { testOnly: false }))) as Record<
      string,
      unknown
    >;
    const rand_seed = Buffer.alloc(32).toString('base64');
    const shown = shownIn(await setting.emulate({ boc: boc.toString('base64'), with_actions: true, rand_seed }));
    expect(shown.trace).toEqual(expected['trace']);
    expect(shown.transactions).toEqual(expected['transactions']);
    // The emulation also names the accounts of each action.
    expect(shown.actions).toEqual((expected['actions'] as object[]).map((action) => expect.objectContaining(action)));
    expect(shown.is_incomplete).toBe(expected['is_incomplete']);
    expect(shown.actions.length).toBeGreaterThan(0);
  });
});
