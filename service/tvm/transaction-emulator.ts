import type { Emulator, EmulatorAnswer } from './emulator.ts';
import type { Job } from './job.ts';
import { writeLibraries } from './libraries.ts';
import { EMPTY_CELL } from './method-params.ts';
import { withPreviousBlocks } from './previous-blocks.ts';
import { encodeStackEntry } from './stack-writer.ts';

/** Transactions of one configuration. */
export type TransactionEmulator = {
  /** Throws EmulatorFault. */
  run(job: TransactionJob): EmulatorAnswer;
  destroy(): void;
};

type TransactionJob = Job & { readonly kind: 'transaction' };

/** Inputs that stay in the emulator from run to run; empty for none. */
type Inputs = Pick<TransactionJob, 'libraries' | 'previousBlocks'>;

/** Replaces the libraries of earlier runs. No library has the hash 0, so no contract finds this one. */
const NO_LIBRARIES = writeLibraries(new Map([['00'.repeat(32), EMPTY_CELL]])).toString('base64');

/** Replaces the blocks of earlier runs. */
const NO_BLOCKS = encodeStackEntry({ type: 'null' }).toString('base64');

/**
 * Creates an emulator of transactions. It reads libraries and previous blocks only when they change, because reading them takes a third
 * of a usual run. Returns undefined when the configuration cannot be read.
 */
export function createTransactionEmulator(
  emulator: Emulator,
  config: number,
  verbosity: 0 | 1 | 3,
): TransactionEmulator | undefined {
  const transactions = emulator.createTransactions(config, verbosity);
  if (transactions === 0) return undefined;
  let inputs: Inputs | undefined = { libraries: '', previousBlocks: '' };

  return {
    run({ libraries, previousBlocks, shardAccount, message, params }) {
      const changedLibraries = inputs?.libraries === libraries ? '' : libraries || NO_LIBRARIES;
      const changedBlocks = inputs?.previousBlocks === previousBlocks ? '' : previousBlocks || NO_BLOCKS;
      const text = emulator.runTransaction(
        transactions,
        changedLibraries,
        shardAccount,
        message,
        withPreviousBlocks(params, changedBlocks),
      );
      const answer = JSON.parse(text) as EmulatorAnswer;
      // An error may come before or after the inputs are read.
      inputs = answer.output?.success === true ? { libraries, previousBlocks } : undefined;
      return answer;
    },
    destroy: () => emulator.destroyTransactions(transactions),
  };
}
