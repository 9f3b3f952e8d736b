import type { CellAt } from '../decode/tlb/message-cells.ts';
import type { AccountEdit } from './collator/state-edits.ts';
import { MissingAccount } from './collator/missing-account.ts';
import type { ForkedContent } from './forked-content.ts';
import type { LiveChain, SignedShardBlock, Step } from './production/live-chain.ts';
import type { LiveHead } from './chain/live-head.ts';
import type { Mempool } from './production/mempool.ts';
import type { NetworkClock } from './network-clock.ts';
import type { NetworkMetrics } from './network-metrics.ts';

/** Makes shard blocks ahead of the masterchain, for tests of what is not final yet. */
export type ShardBlockSwitches = {
  /**
   * Makes and signs the next block of every shard, in place of signed ones of before, without a masterchain block. The next block takes them in.
   * @param withExternals false: the blocks take no message from outside
   */
  sign(withExternals?: boolean): Promise<readonly SignedShardBlock[]>;
  /** Signed shard blocks that no masterchain block has yet. */
  readonly signed: () => readonly SignedShardBlock[];
  /** Lets others take the place of signed shard blocks. */
  drop(): void;
  /** Sets whether masterchain blocks leave shard blocks out. A block with changes by hand always has new shard blocks. */
  hold(holds: boolean): void;
  /** Reports whether masterchain blocks leave shard blocks out now. */
  readonly isHeld: () => boolean;
};

/** Makes the next blocks of a private network. */
export type StepMaker = {
  /** Makes the next block of all chains. @param edits manual changes of accounts, called when the step begins */
  make(edits: () => readonly AccountEdit[]): Promise<Step>;
  readonly shardBlocks: ShardBlockSwitches;
  /** Sets the target depth of the basechain's splits. */
  setShardDepth(depth: number): void;
};

export type StepMakerOptions = {
  /** Most transactions in one chain's block. */
  readonly transactionsMax: number;
  /** Target depth of the basechain's splits at first. */
  readonly shardDepth: number;
};

export type StepMakerDependencies = {
  readonly live: LiveChain;
  readonly mempool: Mempool;
  readonly head: LiveHead;
  readonly clock: NetworkClock;
  readonly metrics: NetworkMetrics;
  /** Content of the forked network; undefined in a network that is no fork. */
  readonly forked: ForkedContent | undefined;
};

export function createStepMaker(
  { transactionsMax, ...options }: StepMakerOptions,
  { live, mempool, head, clock, metrics, forked }: StepMakerDependencies,
): StepMaker {
  let { shardDepth } = options;

  let holdsShards = false;

  /** Repeats the step until all needed accounts are available. A fork reports missing accounts one by one. */
  async function tryStep(edits: () => readonly AccountEdit[]): Promise<Step> {
    for (;;) {
      let brought: readonly AccountEdit[] = [];
      let published: readonly CellAt[] = [];
      try {
        const made = await live.step({
          utime: clock.blockUtime(),
          externals: () => mempool.list(),
          transactionsMax,
          shardDepth,
          holdsShards,
          edits: () => [...(brought = forked?.accounts.edits() ?? []), ...edits()],
          libraries: () => (published = forked?.libraries.waiting() ?? []),
        });
        clock.blockMade();
        forked?.accounts.settle(brought, made.block.id.seqno);
        forked?.libraries.settle(published);
        return made;
      } catch (error) {
        if (!(error instanceof MissingAccount) || forked === undefined) throw error;
        await forked.accounts.fetch(error.place);
      }
    }
  }

  async function make(edits: () => readonly AccountEdit[]): Promise<Step> {
    const stopTimer = metrics.time();
    const made = await tryStep(edits);
    stopTimer(made);
    mempool.settle(made.externals);
    head.moved();
    return made;
  }

  async function sign(withExternals = true): Promise<readonly SignedShardBlock[]> {
    for (;;) {
      try {
        return await live.sign({
          utime: clock.blockUtime(),
          externals: () => (withExternals ? mempool.list() : []),
          transactionsMax,
          shardDepth,
        });
      } catch (error) {
        if (!(error instanceof MissingAccount) || forked === undefined) throw error;
        await forked.accounts.fetch(error.place);
        // Accounts come over in whole steps.
        await make(() => []);
      }
    }
  }

  return {
    make,
    shardBlocks: {
      sign,
      signed: live.signed,
      drop: live.dropSigned,
      hold(holds) {
        holdsShards = holds;
      },
      isHeld: () => holdsShards,
    },
    setShardDepth(depth) {
      shardDepth = depth;
    },
  };
}
