import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import type { CellAt } from '#service/decode/tlb/message-cells.ts';
import type { GrowingChain, ChainBlock } from '../chain/chain.ts';
import { stateOf } from '../chain/chain.ts';
import type { ChainConfig } from '../collator/chain-config.ts';
import { readChainConfig } from '../collator/chain-config.ts';
import type { BlockTip, CollateWorld, Collated } from '../collator/collate.ts';
import { collate } from '../collator/collate.ts';
import type { AccountEdit } from '../collator/state-edits.ts';
import type { Executor } from '../collator/executor.ts';
import type { ExternalMessage, ExternalOutcome } from '../collator/external-message.ts';
import type { PersistedStep } from '../storage/persisted-network.ts';
import { openMasterchainState } from '../collator/masterchain-state.ts';
import { placeOf } from '../collator/out-queue.ts';
import { containsPlace } from '../collator/routing.ts';
import { sessionOf } from '../collator/sessions.ts';
import type { ShardTop } from '../collator/shard-list.ts';
import { planBlocks, type BlockPlan } from './block-plans.ts';
import { createPreviousBlocks } from '../chain/previous-blocks-info.ts';
import type { Signer } from '../chain/signing.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import type { StateRetention } from '../chain/state-retention.ts';
import { DEFAULT_RETENTION, forgetOldBlocks, forgetOldStates } from '../chain/state-retention.ts';

/** A chain that makes its own blocks. */
export type LiveChain = {
  readonly chain: GrowingChain;
  /** Makes the next block of every shard and the masterchain block that takes them in. Steps wait for each other. */
  step(request: StepRequest): Promise<Step>;
  /**
   * Makes the next block of every shard and no masterchain block, in place of signed blocks of before. The next step takes them in. A step with
   * changes by hand makes others in their place.
   */
  sign(request: StepRequest): Promise<readonly SignedShardBlock[]>;
  /** Shard blocks that no masterchain block has yet. */
  readonly signed: () => readonly SignedShardBlock[];
  /** Lets others take the place of signed shard blocks. */
  readonly dropSigned: () => void;
  /** Returns the contracts' view of the blocks up to the newest (`BlockWorld.previousBlocks`). */
  previousBlocks(): string;
  /** Resolves when no step is in progress. */
  idle(): Promise<void>;
};

export type StepRequest = {
  /** Unix seconds. A step is never before the last step. */
  readonly utime: number;
  /** Returns candidate external messages in their order. Called when the step begins. */
  readonly externals: () => readonly ExternalMessage[];
  readonly transactionsMax: number;
  /** Target depth of the basechain's splits. Shards want to split or merge until they reach it. */
  readonly shardDepth: number;
  /** Returns manual changes of accounts, applied first. Called when the step begins. */
  readonly edits?: () => readonly AccountEdit[];
  /** Returns libraries to publish by hand. Called together with `edits`. */
  readonly libraries?: () => readonly CellAt[];
  /** True: the masterchain block takes no shard block in, if nothing is changed by hand. Signed blocks wait for a later step. */
  readonly holdsShards?: boolean;
};

/** A shard block that waits for a masterchain block. */
export type SignedShardBlock = Pick<Collated, 'id' | 'bytes'>;

export type Step = {
  /** The new masterchain block. */
  readonly block: ChainBlock;
  readonly externals: ReadonlyMap<ExternalMessage, ExternalOutcome>;
  readonly transactions: number;
};

export type LiveChainDependencies = {
  readonly executor: Executor;
  readonly signer: Signer;
  /** Random bytes, or seeded bytes in tests. */
  readonly random: (bytes: number) => Buffer;
  readonly slices: TimeSlice;
  /** Default `DEFAULT_WINDOW`. */
  readonly window?: StateRetention;
  /** Function `CollateWorld.isMissing`. */
  readonly isMissing?: CollateWorld['isMissing'];
  /** Stores the blocks of a step and their manual changes before they become visible. An error undoes the step. */
  readonly keep?: (step: PersistedStep, edits: readonly AccountEdit[]) => void;
};

/** Configurations remembered: blocks between two key blocks have the same. */
const CONFIGS_MAX = 4;

/** @param chain at its newest block, or with zerostates alone */
export function createLiveChain(chain: GrowingChain, dependencies: LiveChainDependencies): LiveChain {
  const { executor, signer, random, slices, keep, isMissing, window = DEFAULT_RETENTION } = dependencies;
  const configs = new Map<number, ChainConfig>();
  const previousBlocks = createPreviousBlocks(chain);
  let last: Promise<unknown> = Promise.resolve();
  /** Signed blocks of all shards, or none. */
  let held: readonly Collated[] = [];

  function configOf(root: number): ChainConfig {
    const config = configs.get(root) ?? readChainConfig(chain.states, root);
    configs.delete(root);
    configs.set(root, config);
    if (configs.size > CONFIGS_MAX) configs.delete([...configs.keys()][0]!);
    return config;
  }

  function tipOf(id: BlockId): BlockTip {
    const block = chain.find(id);
    return { id, endLt: block?.header.endLt ?? 0n, state: stateOf(chain, id)! };
  }

  /** Work that is the same for all blocks of a step. */
  function begin({ utime, transactionsMax, shardDepth, ...asked }: StepRequest) {
    const { states } = chain;
    const [externals, edits, libraries] = [asked.externals(), asked.edits?.() ?? [], asked.libraries?.() ?? []];
    const masterchain = tipOf(chain.masterchainId(chain.lastSeqno));
    const reference = openMasterchainState(states, masterchain.state);
    const config = configOf(reference.config.root);
    const seqno = chain.lastSeqno + 1;
    const fresh = new Map<BlockId, number>();
    const world: CollateWorld = {
      states,
      executor,
      ...(isMissing !== undefined && { isMissing }),
      configOf,
      previousBlocks: ({ id }) => previousBlocks(id.seqno),
      masterchainState: (one) => stateOf(chain, chain.masterchainId(one))!,
      stateOf: (id) => fresh.get(id) ?? stateOf(chain, id)!,
      rest: () => slices.pause(),
    };
    const session = sessionOf(config, { workchain: MASTERCHAIN, shard: 1n << 63n }, reference.catchainSeqno);
    const creator = session.validators[seqno % session.validators.length]!.publicKey;
    const now = Math.max(utime, reference.utime, ...held.map(({ top }) => top.utime));
    const plans = planBlocks(reference.shards, now, shardDepth);
    const shared = { masterchain, creator, transactionsMax, externals: [], libraries };
    const isEdited = edits.length > 0 || libraries.length > 0;
    return { externals, edits, shared, session, seqno, fresh, world, now, plans, isEdited };
  }

  type Begun = ReturnType<typeof begin>;

  async function makeShardBlocks({ plans, externals, edits, shared, now, fresh, world }: Begun): Promise<Collated[]> {
    const made: Collated[] = [];
    for (const plan of plans) {
      const { shard, previous, ...flags } = plan;
      const isHere = (address: { workchain: number; id: Buffer }): boolean => containsPlace(shard, placeOf(address));
      const one = await collate(
        {
          ...shared,
          ...flags,
          shard,
          previous: previous.map(tipOf),
          tops: [],
          utime: now,
          randSeed: random(32),
          externals: externals.filter(({ destination }) => isHere(destination)),
          edits: edits.filter(isHere),
        },
        world,
      );
      fresh.set(one.top.block, one.state);
      made.push(one);
    }
    return made;
  }

  async function shardBlocksOf(begun: Begun, holdsShards: boolean): Promise<readonly Collated[]> {
    if (begun.isEdited || !isNext(held, begun.plans)) held = [];
    if (!begun.isEdited && holdsShards) return [];
    if (held.length === 0) return makeShardBlocks(begun);
    for (const { top, state } of held) begun.fresh.set(top.block, state);
    return [...held];
  }

  async function make(request: StepRequest): Promise<Step> {
    const begun = begin(request);
    const { externals, edits, shared, session, seqno, world, now } = begun;
    const made = await shardBlocksOf(begun, request.holdsShards === true);
    const tops: ShardTop[] = made.map(({ top }) => top);
    const place = { workchain: MASTERCHAIN, shard: 1n << 63n };
    const messages = externals.filter(({ destination }) => destination.workchain === MASTERCHAIN);
    const own = edits.filter(({ workchain }) => workchain === MASTERCHAIN);
    const top = await collate(
      {
        ...shared,
        shard: place,
        previous: [shared.masterchain],
        tops,
        utime: now,
        randSeed: random(32),
        externals: messages,
        edits: own,
        // Clients begin at a key block, because few clients support the link from a zerostate.
        keyBlock: seqno === 1,
      },
      world,
    );
    const signatures = signer.sign(top.id, session);
    const all = [...made, top].map(({ id, bytes, state }) => ({ id, bytes, masterchainSeqno: seqno, state }));
    keep?.({ blocks: all, signatures }, edits);
    const added = all.map(({ state, ...one }) => chain.add(one, state, one.id === top.id ? signatures : undefined));
    if (made.length > 0) held = [];
    if (await forgetOldStates(chain, window, slices)) {
      configs.clear();
      // Their states are gone: others take their place.
      held = [];
    }
    forgetOldBlocks(chain, window);
    return {
      block: added.at(-1)!,
      externals: new Map([...made, top].flatMap((one) => [...one.externals])),
      transactions: [...made, top].reduce((sum, one) => sum + one.transactions, 0),
    };
  }

  async function makeSigned(request: StepRequest): Promise<readonly SignedShardBlock[]> {
    held = await makeShardBlocks(begin(request));
    return held;
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  }

  return {
    chain,
    step: (request) => inTurn(() => make(request)),
    sign: (request) => inTurn(() => makeSigned(request)),
    signed: () => held,
    dropSigned() {
      held = [];
    },
    previousBlocks: () => previousBlocks(chain.lastSeqno),
    idle: async () => {
      await last;
    },
  };
}

/** Reports whether signed blocks are still the next ones: a masterchain block of since may have begun a split or a merge. */
function isNext(held: readonly Collated[], plans: readonly BlockPlan[]): boolean {
  return (
    held.length === plans.length &&
    plans.every(({ shard, beforeSplit }, at) => {
      const { top } = held[at]!;
      return (
        top.block.workchain === shard.workchain && top.block.shard === shard.shard && top.beforeSplit === beforeSplit
      );
    })
  );
}
