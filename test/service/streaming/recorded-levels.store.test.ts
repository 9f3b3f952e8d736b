import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import type { SourceBlock, SourceBlocks } from '#service/indexer/source.ts';
import { openBlockFile } from '#service/live/blocks/block-files.ts';
import {
  WHOLE_BLOCK,
  type Change,
  type EventType,
  type Finality,
  type Subscription,
  type TraceSnapshot,
} from '#service/streaming/changes.ts';
import { createConfirmedSnapshots } from '#service/streaming/confirmed/confirmed-snapshots.ts';
import { createConfirmedSource, type ConfirmedSource } from '#service/streaming/confirmed/confirmed-source.ts';
import type { WatchedHub } from '#service/streaming/hub.ts';
import { supportedTypes } from '#service/v3/request/action-versions.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import { createDraw, oneOf, type Draw } from '#test/support/draw.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { countOf, someOf } from '#test/support/volume.ts';
import { startFinalSource, type FinalSourceUnderTest } from './final/final-source-under-test.ts';
import {
  action,
  createHubUnderTest,
  createScriptedLog,
  transaction,
  wishOf,
  type Caller,
  type Received,
  type ScriptedLog,
} from './hub/hub-under-test.ts';
import { demandedEvents, nameEvent, type ModelAction, type ModelStep } from './levels-model.ts';
import { readChainTraces, type RecordedChainTrace, type RecordedTransaction } from './recorded-chain-traces.ts';

// The recorded chain is played block by block into a hub: simulated traces, signed blocks, final blocks. The events of callers with random
// subscriptions equal those that a model of the contract demands.

const { signal } = new AbortController();
const logger = pino({ level: 'silent' });

/** An account that no transaction of the recording has. */
const WRONG = `0:${'F'.repeat(64)}`;

/** Time for a play on a busy machine; some 20 s on an idle one. */
const PLAY_MS_MAX = 900_000;

/** Callers with random subscriptions, beside six that watch all. */
const CALLERS = countOf({ quick: 20, full: 40, long: 400 });

let index: StoreUnderTest;
let followed: FinalSourceUnderTest;
let blocks: readonly SourceBlocks[];
let traces: readonly RecordedChainTrace[];
/** Final changes of each masterchain block. */
let finals: ReadonlyMap<number, readonly Change[]>;
let accounts: readonly string[];
/** Traces with their transactions in a masterchain block, by its seqno. */
let parts: ReadonlyMap<number, readonly TracePart[]>;

type TracePart = { readonly trace: RecordedChainTrace; readonly part: readonly RecordedTransaction[] };

beforeAll(async () => {
  index = await createClassifiedIndex(import.meta.filename);
  followed = startFinalSource(index.store);
  blocks = await recordedBlocks();
  traces = await readChainTraces(index.store);
  const read = new Map<number, readonly Change[]>();
  for (const { mcSeqno } of blocks) read.set(mcSeqno, await followed.source.changesOf(mcSeqno, signal));
  finals = read;
  const all = traces.flatMap((trace) =>
    [...Map.groupBy(trace.transactions, (one) => one.mcSeqno)].map(([mcSeqno, part]) => ({ mcSeqno, trace, part })),
  );
  parts = Map.groupBy(all, ({ mcSeqno }) => mcSeqno);
  accounts = [...new Set(traces.flatMap(({ transactions }) => transactions.map(({ account }) => account)))];
}, 400_000);
afterAll(async () => {
  await followed.source.close();
  await index.close();
});

/** Signed blocks of the recording: those of the next masterchain block. */
function createRecordedSource(hub: WatchedHub): ConfirmedSource & { readonly reach: (mcSeqno: number) => void } {
  const at = new Map(blocks.map((block) => [block.mcSeqno, block]));
  const files = new Map<string, SourceBlock>();
  for (const { masterchain, shards } of blocks)
    for (const block of [masterchain, ...shards]) files.set(block.id.rootHash.toString('hex'), block);
  const readFile = async (id: BlockId) =>
    openBlockFile(id, { id, data: files.get(id.rootHash.toString('hex'))!.boc } as never);
  let head = blocks[0]!.mcSeqno;
  let nowMs = 0;
  const source = createConfirmedSource(
    { everyMs: 0 },
    {
      files: {
        head: () => ({ seqno: head, utime: 0 }),
        masterchainBlock: async (seqno) => at.get(seqno)!.masterchain.id,
        readFile,
        readGlobalVersion: async () => at.get(head)!.globalVersion ?? 0,
      },
      signed: { list: async () => (at.get(head + 1)?.shards ?? []).map(({ id }) => id), readFile },
      snapshots: createConfirmedSnapshots({
        actions: { classify: async () => Promise.reject(new Error('no lite server')) },
        network: { testOnly: false },
        logger,
      }),
      corrections: async () => [],
      jettons: { of: async () => [], corrections: async () => [] },
      findPending: async () => undefined,
      hub,
      nowMs: () => (nowMs += 60_000),
      logger,
    },
  );
  return { ...source, reach: (mcSeqno) => void (head = mcSeqno) };
}

/** How a trace is simulated before it happens. */
type Tail = 'none' | 'right' | 'wrong' | 'late';

type Play = {
  readonly tails: boolean;
  readonly signed: boolean;
};

const plays: readonly (readonly [string, Play])[] = [
  ['simulated tails, signed and final blocks', { tails: true, signed: true }],
  ['simulated tails before final blocks', { tails: true, signed: false }],
  ['signed blocks before final ones', { tails: false, signed: true }],
  ['final blocks alone', { tails: false, signed: false }],
];

const upTo = (trace: RecordedChainTrace, mcSeqno: number): RecordedChainTrace['transactions'] =>
  trace.transactions.filter((one) => one.mcSeqno <= mcSeqno);

/** Snapshot of a trace of which a part is in blocks up to one. The rest is simulated. */
function simulated(trace: RecordedChainTrace, mcSeqno: number, isWrong: boolean): TraceSnapshot {
  const last = trace.transactions.at(-1);
  const shown = trace.transactions.map((one) => {
    if (one.mcSeqno <= mcSeqno) return transaction(one.hash, one.account);
    const name = `${isWrong ? 'wrong' : 'simulated'} ${one.hash}`;
    return transaction(name, isWrong && one === last ? WRONG : one.account);
  });
  return {
    kind: 'trace',
    key: trace.key,
    finality: 'pending',
    position: null,
    hashes: [trace.key],
    transactions: shown.toReversed(),
    actions: [action('ton_transfer', [trace.transactions[0]!.account], `of ${trace.key}`)],
    tree: { tx_hash: trace.id, children: [] },
    isIncomplete: false,
    traceId: null,
  };
}

/** Name of a transaction at its own level; a simulated one has none here. */
const nameOf = (hash: string, finality = ''): string => `${hash} ${finality}`;

function stepOf(snapshot: TraceSnapshot): ModelStep {
  return {
    kind: 'snapshot',
    key: snapshot.key,
    finality: snapshot.finality,
    transactions: snapshot.transactions.map(({ hash, account }) => ({ name: nameOf(hash), account })),
    actions: actionsOf(snapshot),
    isIncomplete: snapshot.isIncomplete,
  };
}

function actionsOf({ actions }: TraceSnapshot): readonly ModelAction[] {
  return actions.map((one) => ({
    id: idOf(one.viewFor(new Set([one.type])))!,
    type: one.type,
    accounts: one.accounts,
    isIn: (supported) => one.viewFor(supported) !== null,
  }));
}

const idOf = (view: { readonly action_id?: string } | null): string | undefined => view?.action_id;

/** Snapshots that signed blocks must make, by the order of the blocks and the messages of the recording alone. */
function* signedSteps(mcSeqno: number): Generator<ModelStep> {
  const { shards } = blocks.find((one) => one.mcSeqno === mcSeqno)!;
  const signed = new Set<string>();
  for (const { id } of shards.toSorted((one, other) => one.id.seqno - other.id.seqno)) {
    const isIn = (one: RecordedTransaction): boolean =>
      one.mcSeqno === mcSeqno && one.workchain === id.workchain && one.shard === id.shard && one.seqno === id.seqno;
    const touched = (parts.get(mcSeqno) ?? []).flatMap(({ trace, part }) => {
      const here = trace.isExternal ? part.filter(isIn) : [];
      return here.length === 0 ? [] : [{ trace, part: here }];
    });
    for (const { part } of touched) for (const { hash } of part) signed.add(hash);
    for (const { trace } of touched.toSorted((one, other) => byPlace(one.part[0]!, other.part[0]!))) {
      // A trace that began before the source has no event at this level.
      if (trace.transactions[0]!.mcSeqno <= blocks[0]!.mcSeqno) continue;
      const known = trace.transactions.filter((one) => one.mcSeqno < mcSeqno || signed.has(one.hash));
      yield {
        kind: 'snapshot',
        key: trace.key,
        finality: 'confirmed',
        transactions: known
          .map(({ hash, account, mcSeqno: at }) => ({
            name: nameOf(hash, at < mcSeqno ? 'finalized' : 'confirmed'),
            account,
          }))
          .toReversed(),
        actions: [],
        isIncomplete: trace.end === undefined || known.length < trace.transactions.length,
      };
    }
  }
}

function compareLts(one: bigint, other: bigint): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

function byPlace(one: RecordedTransaction, other: RecordedTransaction): number {
  return compareLts(one.lt, other.lt) || Buffer.compare(Buffer.from(one.account), Buffer.from(other.account));
}

function compareIds({ id: one }: RecordedChainTrace, { id: other }: RecordedChainTrace): number {
  return Buffer.compare(Buffer.from(one, 'base64'), Buffer.from(other, 'base64'));
}

/** Final steps of a block: traces by their last transaction in it. */
function finalSteps(mcSeqno: number): readonly ModelStep[] {
  const changes = finals.get(mcSeqno)!.filter((one): one is TraceSnapshot => one.kind === 'trace');
  const changeOf = new Map(changes.map((one) => [one.hashes.at(-1), one]));
  return (parts.get(mcSeqno) ?? [])
    .map(({ trace, part }) => ({ trace, fresh: part }))
    .toSorted(
      (one, other) => compareLts(one.fresh.at(-1)!.lt, other.fresh.at(-1)!.lt) || compareIds(one.trace, other.trace),
    )
    .map(({ trace, fresh }): ModelStep => {
      const isOpen = trace.end !== mcSeqno;
      const shown = isOpen ? fresh : upTo(trace, mcSeqno);
      const change = changeOf.get(Buffer.from(trace.id, 'base64').toString('hex'));
      return {
        kind: 'snapshot',
        key: trace.key,
        finality: 'finalized',
        transactions: shown.map(({ hash, account }) => ({ name: nameOf(hash, 'finalized'), account })).toReversed(),
        // That these are the actions of v3 is the matter of recorded-changes.store.test.ts.
        actions: change === undefined ? [] : actionsOf(change),
        isIncomplete: isOpen,
        fresh: new Set(fresh.map(({ hash }) => nameOf(hash, 'finalized'))),
        isOpen,
      };
    });
}

type Stage = {
  readonly hub: WatchedHub;
  /** The index has a block from now on. */
  readonly enter: (mcSeqno: number) => void;
  /** Runs between the steps. */
  readonly rest: () => Promise<void>;
};

/** Plays the chain. Returns the steps that the model needs. */
async function play({ tails, signed }: Play, { hub, enter, rest }: Stage, draw: Draw): Promise<readonly ModelStep[]> {
  const steps: ModelStep[] = [];
  const source = createRecordedSource(hub);
  const tailOf = new Map(
    traces.map(({ key, isExternal }): [string, Tail] => [
      key,
      tails && isExternal ? oneOf(draw, ['none', 'right', 'wrong', 'late']) : 'none',
    ]),
  );
  const begun = Map.groupBy(traces, ({ transactions }) => transactions[0]?.mcSeqno);
  const publish = async (snapshot: TraceSnapshot): Promise<void> => {
    steps.push(stepOf(snapshot));
    await hub.publish([snapshot]);
    await rest();
  };
  for (const { mcSeqno } of blocks.slice(1)) {
    for (const trace of begun.get(mcSeqno) ?? []) {
      const tail = tailOf.get(trace.key)!;
      if (tail === 'none') continue;
      await publish(simulated(trace, -1, tail === 'wrong'));
      if (tail === 'right') await publish(simulated(trace, -1, false));
      if (tail !== 'late') continue;
      steps.push({ kind: 'withdrawn', key: trace.key, reason: 'expired' });
      await hub.publish([{ kind: 'invalidation', key: trace.key, reason: 'expired' }]);
    }
    if (signed) {
      steps.push(...signedSteps(mcSeqno));
      await source.look();
      await rest();
    }
    steps.push(...finalSteps(mcSeqno));
    enter(mcSeqno);
    await hub.publish(finals.get(mcSeqno)!);
    await rest();
    source.reach(mcSeqno);
    for (const { trace } of parts.get(mcSeqno) ?? []) {
      const goesOn = trace.transactions.at(-1)!.mcSeqno > mcSeqno;
      if (goesOn && tailOf.get(trace.key) !== 'none') await publish(simulated(trace, mcSeqno, false));
    }
  }
  await source.close();
  return steps;
}

function drawWish(draw: Draw): Subscription {
  const types = (['transactions', 'actions', 'trace'] as const).filter(() => draw(3) > 0);
  const watched = Array.from({ length: 1 + draw(6) }, () => oneOf(draw, accounts));
  const named = Array.from({ length: draw(8) }, () => oneOf(draw, traces).key);
  const minFinality = oneOf<Finality>(draw, ['pending', 'confirmed', 'finalized']);
  return wishOf({
    types: new Set<EventType>(types),
    accounts: new Set(watched),
    traces: new Set(types.includes('trace') ? named : []),
    minFinality,
    finalityScope: minFinality === 'finalized' && draw(2) === 0 ? 'transaction' : 'trace',
    actionTypes: draw(3) === 0 ? new Set(['ton_transfer', 'jetton_transfer']) : null,
    supportedActionTypes: supportedTypes([oneOf(draw, ['latest', 'v1'])]),
  });
}

/** Wishes that together have every account, every trace and each level. */
function wholeWishes(): readonly Subscription[] {
  const all = {
    types: new Set<EventType>(['transactions', 'actions', 'trace']),
    accounts: new Set(accounts),
    traces: new Set(traces.map(({ key }) => key)),
    supportedActionTypes: supportedTypes([]),
  };
  const byAccounts = { ...all, traces: new Set<string>(), types: new Set<EventType>(['transactions', 'actions']) };
  return (['pending', 'confirmed', 'finalized'] as const).flatMap((minFinality) => [
    wishOf({ ...all, minFinality }),
    wishOf({ ...byAccounts, minFinality }),
  ]);
}

const keyOf = (norm: string): string => Buffer.from(norm, 'base64').toString('hex');

/** The final blocks of the recording, up to the one that is played. */
function createPlayedLog(): { readonly log: ScriptedLog; readonly enter: Stage['enter'] } {
  const first = blocks[0]!.mcSeqno;
  let played = first;
  const log: ScriptedLog = {
    ...createScriptedLog(),
    newest: () => ({ mcSeqno: played, index: WHOLE_BLOCK }),
    changesOf: async (mcSeqno) => finals.get(mcSeqno) ?? [],
    oldest: async () => first,
  };
  return { log, enter: (mcSeqno) => void (played = mcSeqno) };
}

/** Cuts all callers at times, and lets them come back some steps later. */
function createCuts(callers: readonly Cut[], open: () => Caller, draw: Draw): () => Promise<void> {
  let steps = 0;
  return async () => {
    if (steps-- > 0) return;
    if (draw(150) > 0 && callers.some(({ cursor }) => cursor === undefined)) return;
    for (const one of callers) {
      if (one.cursor === undefined) {
        one.cursor = one.caller.connection.cursor();
        one.caller.connection.close();
      } else {
        one.past.push(...one.caller.events);
        one.caller = open();
        await one.caller.subscribe(one.wish, one.cursor);
        one.resumed.add(one.caller.begun[0]!.resumed);
        one.cursor = undefined;
      }
    }
    steps = draw(30);
  };
}

type Cut = {
  readonly wish: Subscription;
  readonly past: Received[];
  readonly resumed: Set<unknown>;
  caller: Caller;
  /** Cursor of a caller that is cut. */
  cursor: string | undefined;
};

function received({ events }: Pick<Caller, 'events'>): readonly string[] {
  return events.map((event) => {
    const key = keyOf(event.trace_external_hash_norm!);
    const { type, finality = '', reason } = event;
    if (type === 'trace_invalidated') return `${key} ${String(reason)}`;
    const isIncomplete = event['is_incomplete'] === true;
    return nameEvent({ key, type, finality, content: contentOf(event), isIncomplete });
  });
}

function contentOf({ type, transactions, actions }: Caller['events'][number]): readonly string[] {
  if (type === 'trace')
    return Object.values(transactions as Record<string, Shown>)
      .map(shownName)
      .toSorted();
  if (type === 'actions') return (actions as readonly object[]).map((one) => idOf(one)!).toSorted();
  return (transactions as readonly Shown[]).map(shownName);
}

type Shown = { readonly hash: string; readonly finality?: string };

const shownName = ({ hash, finality }: Shown): string => nameOf(hash, finality);

/** Transactions of blocks, at each level. */
function realTransactions({ events }: Caller): readonly object[] {
  return events
    .filter(({ type }) => type === 'transactions')
    .flatMap(({ transactions }) => transactions as readonly (Shown & object)[])
    .filter(({ finality }) => finality !== undefined);
}

const hash = { hash: expect.any(String) as string };

/** Fields that walletkit reads of each transaction. */
const readByWalletkit = {
  description: { compute_ph: expect.any(Object) as object },
  account_state_before: hash,
  account_state_after: hash,
  block_ref: { workchain: expect.any(Number) as number },
  total_fees: expect.any(String) as string,
};

/** Events around the first place where two lists differ: the whole lists are long. */
function firstDifference(got: readonly string[], wanted: readonly string[]): object | undefined {
  const at = got.findIndex((event, place) => event !== wanted[place]);
  if (at === -1 && got.length === wanted.length) return undefined;
  const from = at === -1 ? got.length : at;
  return { from, got: got.slice(from, from + 4), wanted: wanted.slice(from, from + 4) };
}

describe('the recorded chain, played block by block', () => {
  it.each(someOf(plays, 2))(
    'gives callers by %s the events that a model of the contract demands',
    async (_what, how) => {
      const { hub, open } = createHubUnderTest();
      const draw = createDraw(43);
      const wishes = [...wholeWishes(), ...Array.from({ length: CALLERS }, () => drawWish(draw))];
      const callers = wishes.map((wish) => ({ wish, caller: open() }));
      for (const { wish, caller } of callers) await caller.subscribe(wish);
      const steps = await play(how, { hub, enter: () => undefined, rest: async () => undefined }, draw);
      for (const { wish, caller } of callers)
        expect(firstDifference(received(caller), demandedEvents(steps, wish))).toBeUndefined();
      const levels = new Set(callers.flatMap(({ caller }) => caller.events.map(({ finality }) => finality)));
      expect(levels.has('pending')).toBe(how.tails);
      expect(levels.has('confirmed')).toBe(how.signed);
      expect(callers[0]!.caller.events.length).toBeGreaterThan(500);
      for (const one of realTransactions(callers[0]!.caller)) expect(one).toMatchObject(readByWalletkit);
      await hub.close();
    },
    PLAY_MS_MAX,
  );

  it.each(someOf(plays, 1))(
    'gives callers that are cut all the time, and resume, by %s the events that a model of the contract demands',
    async (_what, how) => {
      const { log, enter } = createPlayedLog();
      const { hub, open } = createHubUnderTest({ log, levelsBytesMax: Infinity });
      const draw = createDraw(44);
      const wishes = [...wholeWishes(), ...Array.from({ length: CALLERS }, () => drawWish(draw))];
      const callers = wishes.map((wish): Cut => {
        return { wish, past: [], resumed: new Set(), caller: open(), cursor: undefined };
      });
      for (const { wish, caller } of callers) await caller.subscribe(wish);
      const rest = createCuts(callers, open, draw);
      const steps = await play(how, { hub, enter, rest }, draw);
      while (callers.some(({ cursor }) => cursor !== undefined)) await rest();
      for (const { wish, past, caller, resumed } of callers) {
        expect([...resumed]).toEqual(['full']);
        const events = [...past, ...caller.events];
        expect(firstDifference(received({ events }), demandedEvents(steps, wish))).toBeUndefined();
      }
      await hub.close();
    },
    PLAY_MS_MAX,
  );

  it('gives callers that name a trace of signed blocks its snapshot at once, though no caller asked for it before', async () => {
    const { hub, open } = createHubUnderTest({ findConfirmed: (key, ends) => source.find(key, ends) });
    const source = createRecordedSource(hub);
    await open().subscribe({ accounts: new Set([WRONG]), minFinality: 'confirmed' });
    const [wanted, callers]: [string[], Caller[]] = [[], []];
    for (const { mcSeqno } of blocks.slice(1)) {
      await source.look();
      for (const [key, step] of new Map([...signedSteps(mcSeqno)].map((one) => [one.key, one]))) {
        const wish = wishOf({ types: new Set(['trace']), traces: new Set([key]), minFinality: 'confirmed' });
        wanted.push(...demandedEvents([step], wish));
        await callers[callers.push(open()) - 1]!.subscribe(wish);
      }
      source.reach(mcSeqno);
    }
    expect(callers.flatMap(({ events }) => received({ events: events.slice(0, 1) }))).toEqual(wanted);
    await Promise.all([source.close(), hub.close()]);
  });
});
