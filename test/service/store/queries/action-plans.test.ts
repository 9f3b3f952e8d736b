import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { actionOrder, findActions, findActionsOfTraces, type ActionFilter } from '#service/store/queries/actions.ts';
import { supportedTypes } from '#service/v3/request/action-versions.ts';
import { createPlannedReader, type PlannedReader } from '#test/support/query-plans.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

let made: StoreUnderTest;
let planned: PlannedReader;

/** Two actions a trace; one of ten accounts has every second action; most are of one type, few of sixty others, and one is rare. */
const actionCount = 60_000;
const trace = `sha256(('trace ' || n / 2)::bytea)`;
const own = `sha256(('action ' || n)::bytea)`;
const account = (key: string): string => `'\\x80'::bytea || sha256(('account ' || ${key})::bytea)`;
const ofAction = `CASE WHEN n % 2 = 0 THEN 0 ELSE 1 + n % 9 END`;
const times = `1000000 + n / 2 * 10, 1000000 + n / 2 * 10 + 5, 1700000000 + n / 20, 1700000000 + n / 20`;

beforeAll(async () => {
  made = await createMigratedStore(import.meta.filename);
  await made.store.transaction(async ({ query }) => {
    const series = `generate_series(0, ${actionCount - 1}) AS n`;
    await query(
      `INSERT INTO actions SELECT ${trace}, ${own}, (CASE WHEN n % 5000 = 7 THEN 'nft_mint' WHEN n % 40 = 4 THEN 'other_' || n / 40 % 60 ELSE 'ton_transfer' END),
        ${times}, 1000000 + n / 2 * 10 + 5, 1700000000 + n / 20, n / 40, NULL, NULL, true, NULL, '{}', ARRAY[${own}],
        ARRAY[${account(ofAction)}], '{}' FROM ${series}`,
    );
    await query(
      `INSERT INTO action_accounts (account, trace_id, action_id, trace_end_lt, trace_end_utime, end_lt, end_utime, type, ancestor_types)
        SELECT unnest(accounts), trace_id, action_id, trace_end_lt, trace_end_utime, end_lt, end_utime, type, ancestor_types FROM actions`,
    );
    await query('INSERT INTO trace_classifications SELECT DISTINCT trace_id, 2, 1 FROM actions');
    await query('ANALYZE');
  });
  planned = createPlannedReader(made);
});
afterAll(() => made.close());

const supported = [...supportedTypes([])];
const everything = {
  txHashes: [],
  msgHashes: [],
  actionIds: [],
  traceIds: [],
  types: [],
  excludedTypes: [],
  supported,
};
const hash = Buffer.alloc(32, 1);
const order = (['asc', 'desc'] as const).map((sort) => ({ limit: 100, offset: 0, sort }));
const busy = async (): Promise<Buffer> => {
  const [row] = await made.store.read<{ key: Buffer }>(`SELECT ${account('0')} AS key`, []);
  return row!.key;
};

async function plansOfBusy(filter: Partial<ActionFilter>): Promise<readonly string[]> {
  const one = await busy();
  return planned.plansOf(
    order.map((page) => () => findActions(planned.reader, { ...everything, ...filter, account: one }, page)),
  );
}

/** Sorting goes on within what an index has put in order already, and nowhere else. */
const sorts = /(?<!Incremental )\bSort  /;

describe('no query of actions reads or sorts them all', () => {
  const utimes = { startUtime: 1_700_000_100, endUtime: 1_700_002_000 };
  const lts = { startLt: 1_000_500n, endLt: 1_200_000n };
  it.each([
    ['as they ended', {}, 'actions_by_end_lt'],
    ['in a window of lt', lts, 'actions_by_end_lt'],
    ['in a window of time', utimes, 'actions_by_end_utime'],
    ['of a rare type', { types: ['nft_mint'] }, 'actions_by_type'],
    ['of a common type', { types: ['ton_transfer'] }, 'actions_by_(type|end_lt)'],
    ['but for a type', { excludedTypes: ['nft_mint'] }, 'actions_by_end_lt'],
  ])('%s', async (_what, filter, wanted) => {
    const plans = await planned.plansOf(
      order.map((page) => () => findActions(planned.reader, { ...everything, ...filter }, page)),
    );
    expect(plans.filter((plan) => !new RegExp(`Index .* (using|on) ${wanted}`).test(plan) || sorts.test(plan))).toEqual(
      [],
    );
    expect(plans).toHaveLength(2);
  });

  it.each([
    ['as they ended', {}, 'action_accounts_by_end_lt'],
    ['in a window of lt', lts, 'action_accounts_by_end_lt'],
    ['in a window of time', utimes, 'action_accounts_by_end_utime'],
  ])('of a busy account, %s: who is shown what stands in the index', async (_what, filter, wanted) => {
    const plans = await plansOfBusy(filter);
    const reads = new RegExp(`Index Only Scan (Backward )?using ${wanted} `);
    expect(plans.filter((plan) => !reads.test(plan) || sorts.test(plan))).toEqual([]);
  });

  it.each([
    ['of a common type', { types: ['ton_transfer'] }, 'action_accounts_by_type'],
    ['of types that it has none of', { types: ['nft_mint', 'renew_dns'] }, 'action_accounts_by_type'],
    ['of a type in a window of time', { types: ['nft_mint'], ...utimes }, 'action_accounts_by_type_utime'],
  ])('of a busy account, %s: a page of each is sorted with the others', async (_what, filter, wanted) => {
    const plans = await plansOfBusy(filter);
    expect(plans.filter((plan) => !plan.includes(`using ${wanted} `))).toEqual([]);
    expect(plans.map((plan) => plan.split('\n').findIndex((line) => sorts.test(line)))).toEqual([2, 2]);
    expect(plans.map((plan) => plan.match(new RegExp(sorts, 'g'))!.length)).toEqual([1, 1]);
  });

  it('behind a place, which the index finds', async () => {
    const place = [1_100_005n, hash, 1_100_005n, hash];
    const at = { limit: 100, offset: 0, sort: 'desc', after: place } as const;
    expect(actionOrder({}, at)).toHaveLength(place.length);
    const one = await busy();
    const plans = await planned.plansOf([
      () => findActions(planned.reader, everything, at),
      () => findActions(planned.reader, { ...everything, account: one }, at),
    ]);
    expect(plans.filter((plan) => !/Index Cond: .*ROW\(/.test(plan) || sorts.test(plan))).toEqual([]);
  });

  it.each([
    ['by id', { actionIds: [hash] }, 'actions_by_id'],
    ['of a masterchain block', { mcSeqno: 7 }, 'actions_by_mc_seqno'],
    ['of traces', { traceIds: [hash] }, 'actions_pkey'],
  ])('%s', async (_what, filter, wanted) => {
    const plans = await planned.plansOf([() => findActions(planned.reader, { ...everything, ...filter }, order[0]!)]);
    expect(plans.filter((plan) => !new RegExp(`(using|on) ${wanted}`).test(plan))).toEqual([]);
  });

  it('of traces', async () => {
    const plans = await planned.plansOf([() => findActionsOfTraces(planned.reader, [hash], supported)]);
    expect(plans.filter((plan) => plan.includes('Seq Scan'))).toEqual([]);
    expect(plans).toHaveLength(1);
  });
});
