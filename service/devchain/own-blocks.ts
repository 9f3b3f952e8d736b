import type { BlockTimer, BlockTimerDependencies, BlockTimerOptions } from './block-timer.ts';
import { createBlockTimer } from './block-timer.ts';
import type { ShardBlockSwitches, StepMaker } from './step-maker.ts';

/** Blocks that a network makes by itself, and the switches that stop them and let them go on. */
export type OwnBlocks = { readonly timer: BlockTimer; readonly shardBlocks: ShardBlockSwitches };

export type OwnBlocksDependencies = Omit<BlockTimerDependencies, 'makeBlock'> & { readonly steps: StepMaker };

/** @param options when blocks are made */
export function createOwnBlocks(
  options: BlockTimerOptions,
  { steps, hasMessages, ...dependencies }: OwnBlocksDependencies,
): OwnBlocks {
  const { shardBlocks } = steps;
  // Shard blocks that are left out take no message.
  const canTakeMessages = (): boolean => !shardBlocks.isHeld() && hasMessages();
  const timer = createBlockTimer(options, {
    ...dependencies,
    makeBlock: () => steps.make(() => []),
    hasMessages: canTakeMessages,
  });
  return {
    timer,
    shardBlocks: {
      ...shardBlocks,
      hold(holds) {
        const wasHeld = shardBlocks.isHeld();
        shardBlocks.hold(holds);
        if (wasHeld && canTakeMessages()) timer.messageWaits();
      },
    },
  };
}
