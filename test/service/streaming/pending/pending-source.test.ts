import { Address } from '@ton/core';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { EXPIRY_MS } from '#service/pending/watch-list.ts';
import type { Change, TraceSnapshot } from '#service/streaming/changes.ts';
import { createPendingSnapshots } from '#service/streaming/pending/pending-snapshots.ts';
import { createPendingSource } from '#service/streaming/pending/pending-source.ts';
import { supportedTypes } from '#service/v3/request/action-versions.ts';
import { viewAction } from '#service/v3/views/action-views.ts';
import { actionsOfPending, viewPending, viewPendingTrace } from '#service/v3/views/pending-views.ts';
import { startPendingNetwork, type PendingNetwork } from '#test/service/pending/pending-under-test.ts';
import { transfer } from '#test/support/wallet.ts';

let setting: PendingNetwork;

beforeEach(async () => {
  setting = await startPendingNetwork();
});
afterEach(() => setting.close());

const receiver = Address.parseRaw(`0:${'8'.repeat(64)}`);
const receiverKey = `0:${'8'.repeat(64)}`;
const network = { testOnly: false };
const logger = pino({ level: 'silent' });
const { signal } = new AbortController();

function open(isWatched: (accounts: readonly string[]) => boolean) {
  const pending = setting.open();
  const snapshots = createPendingSnapshots({ pending, network, logger });
  const published: Change[] = [];
  const lags: number[] = [];
  const source = createPendingSource({
    pending,
    snapshots,
    hub: {
      publish: async (changes) => void published.push(...changes),
      watchesPending: ({ accounts }) => isWatched([...accounts]),
    },
    unixMs: () => setting.clock.unixMs,
    logger,
    onLag: (seconds) => void lags.push(seconds),
  });
  return { pending, snapshots, source, published, lags };
}

describe('the pending source', () => {
  it('gives a snapshot with the objects of v3 for a trace that is watched', async () => {
    const { pending, published, snapshots, source, lags } = open((accounts) => accounts.includes(receiverKey));
    const sent = await setting.send(pending, setting.faucet.send(0, [transfer(receiver, 1_000_000_000n)]));
    await vi.waitFor(() => expect(published).toHaveLength(1));
    await source.close();
    const [trace] = await pending.find({ hashes: [sent.hash] });
    const [viewed] = await viewPending([trace!], { signal });
    const snapshot = published[0] as TraceSnapshot;
    expect(snapshot).toMatchObject({ kind: 'trace', finality: 'pending', position: null, isIncomplete: false });
    expect(snapshot.key).toBe(sent.normalizedHash.toString('hex'));
    expect(snapshot.hashes).toContain(sent.hash.toString('hex'));
    expect(snapshot.transactions.map(({ view }) => view)).toEqual(viewed!.transactions.toReversed());
    expect(snapshot.transactions[0]!.account).toBe(receiverKey);
    expect(snapshot.tree).toEqual(viewPendingTrace(viewed!, [], network).trace);
    const supported = supportedTypes([]);
    const actions = actionsOfPending(trace!, supported);
    expect(actions).not.toEqual([]);
    expect(snapshot.actions.map((action) => action.viewFor(supported))).toEqual(
      actions.map((action) => viewAction(action, network, { withAccounts: true, transactions: undefined })),
    );
    expect(await snapshots.find(sent.hash.toString('hex'), signal)).toMatchObject({ key: snapshot.key });
    expect(await snapshots.find('00'.repeat(32), signal)).toBeUndefined();
    expect(lags).toHaveLength(1);
  });

  it('makes nothing of a trace that no connection watches, and withdraws an expired one', async () => {
    const { pending, published, source } = open(() => false);
    const sent = await setting.send(pending, setting.faucet.send(0, [transfer(receiver, 1_000_000_000n)]));
    setting.clock.unixMs += EXPIRY_MS;
    setting.index.seqno = setting.network.head().id.seqno;
    await pending.refresh();
    const invalidation = { kind: 'invalidation', key: sent.normalizedHash.toString('hex'), reason: 'expired' };
    await vi.waitFor(() => expect(published).toEqual([invalidation]));
    await source.close();
  });
});
