import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Change, JettonChange, StateChange, TraceSnapshot } from '#service/streaming/changes.ts';
import { supportedTypes } from '#service/v3/request/action-versions.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import { startV3UnderTest, type Query, type V3UnderTest } from '#test/support/v3-service.ts';
import { startFinalSource, type FinalSourceUnderTest } from './final-source-under-test.ts';

type Json = Readonly<Record<string, unknown>>;

type ShownTrace = Json & {
  readonly trace_id: string;
  readonly trace: unknown;
  readonly transactions_order: readonly string[];
  readonly transactions: Readonly<Record<string, Json>>;
};

const { signal } = new AbortController();

let v3: V3UnderTest;
let followed: FinalSourceUnderTest;
let seqnos: readonly number[];
let changes: readonly Change[];

async function get(operation: string, query: Query): Promise<Json> {
  const { status, body } = await v3.get(operation, query);
  expect([operation, query, status]).toEqual([operation, query, 200]);
  return body as Json;
}

const ofKind = <K extends Change['kind']>(kind: K): (Change & { readonly kind: K })[] =>
  changes.filter((one): one is Change & { readonly kind: K } => one.kind === kind);

const wholeTraces = (): TraceSnapshot[] => ofKind('trace').filter(({ stage }) => stage === undefined);

beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename, {}, createClassifiedIndex);
  followed = startFinalSource(v3.index.store);
  const rows = await v3.index.store.read<{ seqno: number }>(
    'SELECT seqno FROM blocks WHERE workchain = -1 ORDER BY seqno',
  );
  seqnos = rows.map(({ seqno }) => seqno);
  const all: Change[] = [];
  for (const seqno of seqnos) all.push(...(await followed.source.changesOf(seqno, signal)));
  changes = all;
}, 400_000);
afterAll(async () => {
  await followed.source.close();
  await v3.close();
});

describe('the final changes of the recorded chain', () => {
  it('have each complete trace once, in the block where it ended', async () => {
    const complete = await v3.index.store.read<{ trace_id: Buffer; mc_seqno_end: number }>(
      'SELECT trace_id, mc_seqno_end FROM traces WHERE state = 0',
    );
    const wanted = complete.map((row) => `${row.mc_seqno_end} ${row.trace_id.toString('hex')}`);
    const ended = ofKind('trace').filter(({ stage }) => stage === undefined || stage === 'last');
    const seen = ended.map(({ position, hashes }) => `${position!.mcSeqno} ${hashes.at(-1)}`);
    expect(seen.toSorted()).toEqual(wanted.toSorted());
    expect(seen.length).toBeGreaterThan(100);
  });

  it('show traces, transactions and trees byte for byte as v3 does', async () => {
    let compared = 0;
    for (const seqno of seqnos) {
      const { traces } = (await get('traces', { mc_seqno: seqno, limit: 1000 })) as { traces: readonly ShownTrace[] };
      const byId = new Map(traces.map((one) => [one.trace_id, one]));
      for (const change of wholeTraces().filter(({ position }) => position!.mcSeqno === seqno)) {
        const one = byId.get(Buffer.from(change.hashes.at(-1)!, 'hex').toString('base64'))!;
        const ascending = change.transactions.toReversed();
        expect(ascending.map(({ hash }) => hash)).toEqual(one.transactions_order);
        for (const { hash, view } of ascending) {
          expect(JSON.stringify(view)).toBe(JSON.stringify(one.transactions[hash]));
          compared++;
        }
        expect(JSON.stringify(change.tree)).toBe(JSON.stringify(one.trace));
        expect(change.isIncomplete).toBe(one['is_incomplete']);
      }
    }
    expect(compared).toBeGreaterThan(500);
  });

  it.each([
    ['latest', 1],
    ['v1', 7],
  ])('show the actions that v3 shows to a client of %s', async (version, step) => {
    const supported = supportedTypes([version]);
    let compared = 0;
    for (const seqno of seqnos.filter((_, at) => at % step === 0)) {
      const query = { mc_seqno: seqno, limit: 1000, include_accounts: true, supported_action_types: version };
      const { actions } = (await get('actions', query)) as { actions: readonly (Json & { trace_id: string })[] };
      const byTrace = Map.groupBy(actions, ({ trace_id: id }) => id);
      for (const change of wholeTraces().filter(({ position }) => position!.mcSeqno === seqno)) {
        const id = Buffer.from(change.hashes.at(-1)!, 'hex').toString('base64');
        const seen = change.actions.flatMap((one) => one.viewFor(supported) ?? []) as Json[];
        const texts = (list: readonly Json[]): string[] => list.map((one) => JSON.stringify(one)).toSorted();
        expect(texts(seen)).toEqual(texts(byTrace.get(id) ?? []));
        const ends = seen.map((one) => [BigInt(one['end_lt'] as string), BigInt(one['start_lt'] as string)] as const);
        for (const [at, [end, start]] of ends.entries()) {
          const [nextEnd, nextStart] = ends[at + 1] ?? [-1n, -1n];
          expect(end > nextEnd || (end === nextEnd && start >= nextStart)).toBe(true);
        }
        compared += seen.length;
      }
    }
    expect(compared).toBeGreaterThan(100 / step);
  });

  it('have every transaction once as fresh, in its own block', async () => {
    const rows = await v3.index.store.read<{ hash: Buffer; mc_seqno: number }>(
      'SELECT hash, mc_seqno FROM transactions',
    );
    const wanted = rows.map(({ hash, mc_seqno: seqno }) => `${seqno} ${hash.toString('base64')}`);
    const seen = ofKind('trace').flatMap(({ position, fresh, transactions }) =>
      transactions
        .filter(({ hash }) => fresh === undefined || fresh.has(hash))
        .map(({ hash }) => `${position!.mcSeqno} ${hash}`),
    );
    expect(seen.toSorted()).toEqual(wanted.toSorted());
  });

  it('have one position each, in a row within each block', () => {
    for (const [, list] of Map.groupBy(changes as readonly TraceSnapshot[], ({ position }) => position!.mcSeqno)) {
      expect(list.map(({ position }) => position!.index)).toEqual(list.map((_, at) => at));
    }
  });

  it('are the same when they are read again by another process', async () => {
    const other = startFinalSource(v3.index.another());
    const supported = supportedTypes([]);
    const text = (list: readonly Change[]): string =>
      JSON.stringify(list, (name, value: unknown) => {
        if (value instanceof Set) return [...value];
        if (name === 'actions') return (value as TraceSnapshot['actions']).map((one) => one.viewFor(supported));
        return value;
      });
    for (const seqno of seqnos.filter((_, at) => at % 20 === 0)) {
      const again = await other.source.changesOf(seqno, signal);
      expect(text(again)).toBe(text(await followed.source.changesOf(seqno, signal)));
    }
    await other.source.close();
  });

  it('have the state of each touched account once a block, and the newest as v3 shows it', async () => {
    const states = ofKind('state');
    const names = states.map(({ account, position }) => `${position!.mcSeqno} ${account}`);
    expect(new Set(names).size).toBe(names.length);
    const rows = await v3.index.store.read<{ count: bigint }>(
      'SELECT count(*) AS count FROM (SELECT DISTINCT mc_seqno, account FROM transactions) AS touched',
    );
    expect(names.length).toBeGreaterThanOrEqual(Number(rows[0]!.count));
    const newest = new Map(states.map((one): [string, StateChange] => [one.account, one]));
    let compared = 0;
    for (const accounts of chunks([...newest.keys()], 100)) {
      const answer = await get('accountStates', { address: accounts, include_boc: false });
      for (const one of answer['accounts'] as readonly Json[]) {
        const state = newest.get(one['address'] as string)!.state as Json;
        expect(state).toMatchObject({
          hash: one['account_state_hash'],
          balance: one['balance'],
          account_status: one['status'],
          data_hash: one['data_hash'] ?? null,
          code_hash: one['code_hash'] ?? null,
          frozen_hash: one['frozen_hash'] ?? null,
          last_transaction_hash: one['last_transaction_hash'],
          last_transaction_lt: one['last_transaction_lt'],
        });
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(20);
  });

  it('have a change for each block and jetton wallet that it touched, with the fields of v3', async () => {
    const jettons = ofKind('jetton');
    expect(jettons.length).toBeGreaterThan(3);
    const byWallet = new Map(jettons.map((one): [string, JettonChange] => [one.accounts[0]!, one]));
    const answer = await get('jetton/wallets', { address: [...byWallet.keys()], limit: 1000 });
    const shown = answer['jetton_wallets'] as readonly Json[];
    expect(shown.length).toBe(byWallet.size);
    for (const one of shown) {
      const { jetton, accounts, named } = byWallet.get(one['address'] as string)!;
      expect(one).toMatchObject(jetton);
      expect(accounts).toEqual([one['address'], one['owner']]);
      expect(named).toEqual([one['address'], one['owner'], one['jetton']]);
    }
    const touched = new Set(jettons.map(({ accounts, position }) => `${position!.mcSeqno} ${accounts[0]}`));
    expect(touched.size).toBe(jettons.length);
  });

  it('name their traces without an external root by the root, and the others by their message', () => {
    const whole = wholeTraces();
    const [external, others] = [
      whole.filter((one) => one.traceId === null),
      whole.filter((one) => one.traceId !== null),
    ];
    expect(external.length).toBeGreaterThan(0);
    expect(others.length).toBeGreaterThan(0);
    for (const { key, hashes } of external) expect([hashes[0], hashes.length > 1]).toEqual([key, true]);
    for (const { key, hashes, traceId } of others) {
      expect(hashes).toEqual([key]);
      expect(Buffer.from(key, 'hex').toString('base64')).toBe(traceId);
    }
  });
});

describe('what is found about a trace or an account', () => {
  it('is the final snapshot of the trace, by any of its hashes', async () => {
    await expect.poll(() => followed.source.newest()?.mcSeqno).toBe(seqnos.at(-1));
    const some = wholeTraces()
      .filter((one) => one.traceId === null)
      .slice(0, 10);
    for (const change of some) {
      for (const hash of change.hashes) {
        const found = await followed.source.findTrace(hash, signal);
        expect([found?.key, found?.position]).toEqual([change.key, change.position]);
      }
    }
    expect(await followed.source.findTrace('09'.repeat(32), signal)).toBeUndefined();
  });

  it('is what v3 writes in address books and metadata', async () => {
    const { labels } = followed.source;
    const named = [...new Set(ofKind('jetton').flatMap((one) => one.named))].slice(0, 50);
    expect(await labels.addressBook(named, signal)).toEqual(await get('addressBook', { address: named }));
    expect(await labels.metadata(named, signal)).toEqual(await get('metadata', { address: named }));
    expect(Object.keys(await labels.metadata(named, signal)).length).toBeGreaterThan(0);
  });

  it('is the first indexed block as the oldest of a short chain', async () => {
    expect(await followed.source.oldest()).toBe(seqnos[0]);
  });
});

function* chunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
