import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import { traceMeaning } from '#service/interpreter/action-rows.ts';
import { expectedActions, inOrder } from '#test/support/recorded-actions.ts';
import { readRecordedTrace, recordedTraceFiles } from '#test/support/recorded-traces.ts';
import { writeActions } from '#test/support/made-actions.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { createClassifiedIndex } from '../support/classified-index.ts';
import { startV3UnderTest, type Query, type V3UnderTest } from '#test/support/v3-service.ts';

type Json = Readonly<Record<string, unknown>>;
type Shown = Json & {
  readonly trace_id: string;
  readonly action_id: string;
  readonly type: string;
  readonly transactions: readonly string[];
  readonly accounts?: readonly string[];
  readonly details: Json;
};

let v3: V3UnderTest;
beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename, {}, createClassifiedIndex);
}, 360_000);
afterAll(() => v3.close());

async function get(operation: string, query: Query, headers: Readonly<Record<string, string>> = {}): Promise<Json> {
  const answer = await v3.get(operation, query, headers);
  expect([operation, answer.status, answer.flaws]).toEqual([operation, 200, []]);
  return answer.body as Json;
}

async function listOf(query: Query, headers?: Readonly<Record<string, string>>): Promise<readonly Shown[]> {
  return (await get('actions', query, headers))['actions'] as readonly Shown[];
}

/** All of a list, page by page, by the cursors that answers give. */
async function walk(operation: string, query: Query): Promise<Json[]> {
  const seen: Json[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body, headers, flaws } = await v3.get(operation, { ...query, ...(cursor !== '' && { cursor }) });
    expect([operation, status, flaws]).toEqual([operation, 200, []]);
    const [rows] = Object.values(body as Json) as [Json[]];
    seen.push(...rows);
    cursor = headers.get('x-next-cursor');
  }
  return seen;
}

describe('the actions of the recorded chain', () => {
  it('are what was done on it, by their names', async () => {
    const all = (await walk('actions', { limit: 500, sort: 'asc' })) as Shown[];
    const types = Map.groupBy(all, ({ type }) => type);
    const wanted = [
      'ton_transfer',
      'contract_deploy',
      'call_contract',
      'extra_currency_transfer',
      'jetton_transfer',
      'jetton_mint',
      'jetton_burn',
      'nft_mint',
      'nft_transfer',
      'multisig_create_order',
      'multisig_approve',
      'multisig_execute',
      'vesting_add_whitelist',
      'vesting_send_message',
      'change_dns',
    ];
    expect(wanted.filter((type) => !types.has(type))).toEqual([]);
    const transfers = types.get('jetton_transfer')!.map(({ details }) => details);
    expect(transfers).toContainEqual(expect.objectContaining({ query_id: '11', amount: '100500000000' }));
  });

  it('are those of their traces, which say that they are told', async () => {
    const traces = (await get('traces', { limit: 50, include_actions: true }))['traces'] as (Json & {
      readonly trace_id: string;
      readonly trace_info: Json;
      readonly actions: readonly Shown[];
    })[];
    const events = (await get('events', { limit: 50 }))['events'] as typeof traces;
    expect(events).toEqual(traces);
    for (const { trace_id: id, trace_info: info, actions } of traces) {
      expect(info['classification_state']).toBe('ok');
      const alone = await listOf({ trace_id: id, sort: 'asc' });
      expect(new Set(actions.map((one) => one.action_id))).toEqual(new Set(alone.map((one) => one.action_id)));
    }
    const plain = (await get('traces', { limit: 1 }))['traces'] as Json[];
    expect(Object.keys(plain[0]!)).not.toContain('actions');
  });

  it('actions have their accounts and transactions if the caller asks for them', async () => {
    const [bare] = await listOf({ limit: 1, action_type: 'jetton_transfer' });
    expect(Object.keys(bare!)).not.toEqual(expect.arrayContaining(['accounts']));
    const query = { action_id: bare!.action_id, include_accounts: true, include_transactions: true };
    const [full] = await listOf(query);
    expect(full).toMatchObject({ action_id: bare!.action_id, details: bare!.details });
    const transactions = full!['transactions_full'] as readonly { hash: string; account: string }[];
    expect(new Set(transactions.map(({ hash }) => hash))).toEqual(new Set(full!.transactions));
    expect(full!.accounts).toEqual(expect.arrayContaining(transactions.map(({ account }) => account)));
    const book = (await get('actions', query))['address_book'] as Json;
    expect(Object.keys(book)).toEqual(expect.arrayContaining([full!.details['asset'], full!.details['sender']]));
  });

  it('are found by any of what names them, and by all of it together', async () => {
    const [one] = await listOf({ limit: 1, action_type: 'nft_transfer', include_accounts: true });
    const { action_id: id, trace_id: trace, transactions, accounts } = one!;
    const names = { account: accounts![0]!, tx_hash: transactions[0]!, action_id: id, trace_id: trace };
    for (const [name, value] of Object.entries(names)) {
      const found = await listOf({ [name]: value, limit: 1000, include_accounts: true });
      expect(found.map((action) => action.action_id)).toContain(id);
    }
    expect(await listOf({ ...names, action_type: 'nft_transfer', include_accounts: true })).toEqual([one]);
    expect(await listOf({ ...names, action_type: 'jetton_burn' })).toEqual([]);
    expect(await listOf({ ...names, exclude_action_type: 'nft_transfer' })).toEqual([]);
  });

  it('of newer types are seen in parts by older clients', async () => {
    const [order] = await listOf({ limit: 1, action_type: 'multisig_create_order' });
    const query = { trace_id: order!.trace_id };
    expect((await listOf(query)).map(({ type }) => type)).toContain('multisig_create_order');
    const older = await listOf({ ...query, supported_action_types: 'v1' });
    expect(older.map(({ type }) => type)).not.toContain('multisig_create_order');
    expect(older.map(({ type }) => type)).toContain('call_contract');
    expect(await listOf(query, { 'x-actions-version': 'v1' })).toEqual(older);
  });
});

describe('lists of v3', () => {
  it.each([
    ['actions', { limit: 200 }],
    ['traces', { limit: 100, account: '' }],
    ['transactions', { limit: 300, sort: 'asc' }],
    ['messages', { limit: 300 }],
    ['jetton/transfers', { limit: 5 }],
    ['jetton/burns', { limit: 1 }],
    ['nft/transfers', { limit: 1 }],
    ['blocks', { limit: 500 }],
    ['jetton/masters', { limit: 1 }],
    ['jetton/wallets', { limit: 2 }],
    ['jetton/wallets', { limit: 2, sort: 'desc' }],
  ] as const)('go on behind their cursors: %s', async (operation, query) => {
    const [name] = Object.keys(await get(operation, { limit: 1 })) as [string];
    const whole = ((await get(operation, { ...query, limit: 1000 }))[name] as Json[]).slice(0, 1000);
    const seen = await walk(operation, query);
    expect(seen.slice(0, whole.length)).toEqual(whole);
    expect(whole.length).toBeGreaterThan(query.limit);
  });

  it('are not told with a trace that is too large to be shown', async () => {
    const { trace_id: id } = (await listOf({ limit: 1 }))[0]!;
    const grow = (by: number): Promise<unknown> =>
      v3.index.store.transaction(({ query }) =>
        query('UPDATE traces SET nodes = nodes + $2 WHERE trace_id = $1', [Buffer.from(id, 'base64'), by]),
      );
    const shown = async (): Promise<Json> =>
      ((await get('traces', { trace_id: id, include_actions: true }))['traces'] as Json[])[0]!;
    expect((await shown())['actions']).not.toEqual([]);
    await grow(4_000);
    try {
      expect(await shown()).toMatchObject({ is_incomplete: true, warning: 'trace is too large', actions: [] });
    } finally {
      await grow(-4_000);
    }
  });

  it.each([
    ['no cursor at all', { cursor: 'x' }],
    ['of another list', { cursor: 'blocks' }],
    ['beside an offset', { cursor: 'own', offset: 3 }],
    ['of the other direction', { cursor: 'own', sort: 'asc' }],
    ['that somebody has changed', { cursor: 'changed' }],
  ])('refuse a cursor %s', async (_what, { cursor, ...rest }) => {
    const own = (await v3.get('actions', { limit: 1 })).headers.get('x-next-cursor')!;
    const blocks = (await v3.get('blocks', { limit: 1 })).headers.get('x-next-cursor')!;
    const parts = JSON.parse(Buffer.from(own, 'base64url').toString()) as unknown[];
    const changed = Buffer.from(JSON.stringify([parts[0], parts[1], [[], 1, null, 'é']])).toString('base64url');
    const cursors: Readonly<Record<string, string>> = { x: 'x', own, blocks, changed };
    const { status, body } = await v3.get('actions', { cursor: cursors[cursor]!, ...rest });
    expect([status, (body as Json)['error']]).toEqual([422, expect.stringContaining('cursor')]);
  });

  it.each([
    ['action_type', { action_type: "x'y" }, 'action_type contains invalid characters'],
    ['exclude_action_type', { exclude_action_type: 'a b' }, 'exclude_action_type contains invalid characters'],
  ])('refuse types that can be none: %s', async (_what, query, error) => {
    const { status, body } = await v3.get('actions', query);
    expect([status, body]).toEqual([422, { ok: false, code: 422, error }]);
  });

  it('a list of a masterchain block that is not indexed is refused and names the block', async () => {
    const { status, body, flaws } = await v3.get('actions', { mc_seqno: 1_000_000 });
    expect([status, (body as Json)['error'], flaws]).toEqual([404, 'masterchain block 1000000 not found', []]);
    expect(await listOf({ supported_action_types: ['\0', 'no such type'], limit: 1 })).toHaveLength(1);
  });
});

type State = { readonly balance: string | null };
type Traced = {
  readonly account: string;
  readonly total_fees: string;
  readonly account_state_before: State;
  readonly account_state_after: State;
};

describe('what a trace changed', () => {
  type Changes = {
    readonly changes: Readonly<Record<string, number>>;
    readonly fees: Readonly<Record<string, number>>;
    readonly jettons: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  const changesOf = async (query: Query): Promise<Changes> => (await get('balanceChanges', query)) as Changes;

  it('is what its accounts have after it less what they had before', async () => {
    const traces = (await get('traces', { limit: 300 }))['traces'] as {
      trace_id: string;
      trace_info: { pending_messages: number };
      transactions: Readonly<Record<string, Traced>>;
    }[];
    const complete = traces.filter(({ trace_info: info }) => info.pending_messages === 0);
    for (const { trace_id: id, transactions } of complete) {
      const wanted: Record<string, number> = {};
      for (const { account, account_state_before: before, account_state_after: after } of Object.values(transactions)) {
        wanted[account] = (wanted[account] ?? 0) + Number(after.balance) - Number(before.balance);
      }
      const { changes, fees } = await changesOf({ trace_id: id });
      expect([id, changes]).toEqual([id, wanted]);
      expect(Object.values(fees).every((fee) => fee >= 0)).toBe(true);
    }
    expect(complete.length).toBeGreaterThan(200);
  });

  it('is told of jettons by owner and master, for one action too', async () => {
    const [one] = await listOf({ action_type: 'jetton_transfer', limit: 1 });
    const { asset, sender, receiver, amount } = one!.details as Readonly<Record<string, string>>;
    const jettons = { [sender!]: { [asset!]: `-${amount}` }, [receiver!]: { [asset!]: amount } };
    expect((await changesOf({ trace_id: one!.trace_id })).jettons).toEqual(jettons);
    const ofAction = await changesOf({ action_id: one!.action_id });
    expect(ofAction.jettons).toEqual(jettons);
    expect(await changesOf({ action_id: one!.action_id, trace_id: one!.trace_id })).toEqual(ofAction);
  });

  it('is not known of what is not named, or not there', async () => {
    const nobody = Buffer.alloc(32, 9).toString('hex');
    const answers = await Promise.all(
      [{}, { trace_id: nobody }, { action_id: nobody }].map((query) => v3.get('balanceChanges', query)),
    );
    expect(answers.map(({ status, body }) => [status, (body as Json)['error']])).toEqual([
      [400, 'trace_id or action_id is required'],
      [404, 'trace not found'],
      [404, 'action not found'],
    ]);
  });
});

const files = recordedTraceFiles();

describe.skipIf(
  skipLoudly(files.length === 0, {
    what: 'recorded actions through the store',
    why: 'mainnet-traces is not among the fixtures',
  }),
)('recorded actions of mainnet, through the store', () => {
  it('are shown as they were recorded, to clients of each version', async () => {
    const recorded = files.map(readRecordedTrace);
    for (const { trace, interfaces } of recorded) {
      await writeActions(v3.index.store, traceMeaning(trace, classify(trace, interfaces), 1).actions);
    }
    for (const one of recorded) {
      const wanted = new Map(expectedActions(one).map((action) => [action['action_id'] as string, action]));
      for (const version of ['v1', 'v2', 'v3', 'v4']) {
        const query = { trace_id: one.trace.traceId, supported_action_types: version, limit: 1000 };
        const shown = await listOf(query);
        const visible = one.expected.visible[version]!;
        expect([one.name, version, shown.length]).toEqual([one.name, version, visible.length]);
        const views = new Map(shown.map((action) => [action.action_id, inOrder(action)]));
        expect(views).toEqual(new Map(visible.map((id) => [id, wanted.get(id)])));
      }
    }
  });
});
