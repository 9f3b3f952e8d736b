import { parseBoc } from '#service/decode/boc.ts';
import { writeBocText } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { Emulator } from '#service/tvm/emulator.ts';

/** Runs transactions of one block after another in the emulator of this thread. */
export type Executor = {
  /** Sets what the transactions of the next block have in common. */
  open(world: BlockWorld): void;
  run(work: Work): Outcome;
  /** Runs like `run`, with the VM's log of each instruction and the remaining gas; slower. */
  trace(work: Work): Outcome;
  close(): void;
};

/** Context that all transactions of a block see. */
export type BlockWorld = {
  readonly states: CellStore;
  /** Root of the configuration, and of the masterchain's libraries: both in `states`. */
  readonly config: number;
  readonly libraries: number | undefined;
  readonly utime: number;
  /** 32 bytes. */
  readonly randSeed: Buffer;
  /** The tuple of previous blocks as a bag of cells in base64 (`service/tvm/previous-blocks.ts`). */
  readonly previousBlocks: string;
};

/** Input of one transaction. */
export type Work = {
  /** `ShardAccount` as a bag of cells in base64. */
  readonly account: string;
  /** A message as a bag of cells in base64, or a special account's tick or tock of the block. */
  readonly message: { readonly boc: string } | 'tick' | 'tock';
  /** The transaction's lt is at least this. */
  readonly lt: bigint;
};

export type Outcome =
  /** `Transaction` as a bag of cells, and the account after it in base64. */
  | { readonly kind: 'done'; readonly transaction: Buffer; readonly account: string }
  /** An external message that is not accepted. */
  | { readonly kind: 'rejected'; readonly error: string; readonly exitCode: number | undefined; readonly log: string };

type Answer = {
  readonly message?: string;
  readonly output?: {
    readonly success: boolean;
    readonly error?: string;
    readonly vm_log?: string;
    readonly vm_exit_code?: number;
    readonly transaction?: string;
    readonly shard_account?: string;
  };
};

/** Cached configurations. A key block needs the next one, and a fork returns to the last one. */
const CONFIGS_MAX = 4;

/** Verbosity at which the log names each instruction and the gas that is left. */
const TRACE = 3;

type CachedConfig = { readonly pointer: number; readonly transactions: number; tracing: number | undefined };

export function createExecutor(emulator: Emulator): Executor {
  const configs = new Map<string, CachedConfig>();
  let opened: { readonly cachedConfig: CachedConfig; readonly libraries: string; readonly params: string } | undefined;
  let libraries: { readonly hash: string; readonly text: string } = { hash: '', text: '' };

  function release({ pointer, transactions, tracing }: CachedConfig): void {
    emulator.destroyTransactions(transactions);
    if (tracing !== undefined) emulator.destroyTransactions(tracing);
    emulator.release(pointer);
  }

  function keepConfig(states: CellStore, root: number): CachedConfig {
    const hash = states.hash(root).toString('latin1');
    let cachedConfig = configs.get(hash);
    configs.delete(hash);
    if (cachedConfig === undefined) {
      const pointer = emulator.keep(writeBocText(states, [root]));
      cachedConfig = { pointer, transactions: emulator.createTransactions(pointer, 0), tracing: undefined };
      if (cachedConfig.transactions === 0) throw new Error('the emulator cannot read the configuration');
    }
    configs.set(hash, cachedConfig);
    if (configs.size > CONFIGS_MAX) {
      const [oldest, one] = [...configs][0]!;
      configs.delete(oldest);
      release(one);
    }
    return cachedConfig;
  }

  function writeLibraries(states: CellStore, root: number | undefined): string {
    if (root === undefined) return '';
    const hash = states.hash(root).toString('latin1');
    // The VM takes the first reference of an entry: of `LibDescr` that is the library.
    if (libraries.hash !== hash) libraries = { hash, text: writeBocText(states, [root]) };
    return libraries.text;
  }

  function runIn(choose: (cachedConfig: CachedConfig) => number, { account, message, lt }: Work): Outcome {
    if (opened === undefined) throw new Error('no block is open');
    const isTickTock = message === 'tick' || message === 'tock';
    const rest = isTickTock ? `,"is_tick_tock":true,"is_tock":${message === 'tock'}` : '';
    const params = `${opened.params},"lt":"${lt}"${rest}}`;
    const inbound = isTickTock ? '' : message.boc;
    const text = emulator.runTransaction(choose(opened.cachedConfig), opened.libraries, account, inbound, params);
    return readAnswer(JSON.parse(text) as Answer);
  }

  return {
    open({ states, config, libraries: root, utime, randSeed, previousBlocks }) {
      const cachedConfig = keepConfig(states, config);
      const shared = {
        utime,
        rand_seed: randSeed.toString('hex'),
        ignore_chksig: false,
        debug_enabled: false,
        prev_blocks_info: previousBlocks,
      };
      const params = JSON.stringify(shared).slice(0, -1);
      opened = { cachedConfig, libraries: writeLibraries(states, root), params };
    },
    run: (work) => runIn(({ transactions }) => transactions, work),
    trace: (work) =>
      runIn(
        (cachedConfig) => (cachedConfig.tracing ??= emulator.createTransactions(cachedConfig.pointer, TRACE)),
        work,
      ),
    close() {
      for (const cachedConfig of configs.values()) release(cachedConfig);
      configs.clear();
      opened = undefined;
    },
  };
}

function readAnswer({ output, message }: Answer): Outcome {
  if (output === undefined) throw new Error(`the emulator refuses its input: ${message ?? 'no output'}`);
  const { transaction, shard_account: account } = output;
  if (output.success && transaction !== undefined && account !== undefined) {
    return { kind: 'done', transaction: Buffer.from(transaction, 'base64'), account };
  }
  return {
    kind: 'rejected',
    error: output.error ?? 'no error',
    exitCode: output.vm_exit_code,
    log: output.vm_log ?? '',
  };
}

/** Returns a bag of a single cell, in base64. */
export function bocText(store: CellStore, cell: number): string {
  return writeBocText(store, [cell]);
}

/** Imports a bag into the store and returns its root. */
export function importBoc(store: CellStore, bytes: Buffer): number {
  const boc = parseBoc(bytes);
  return store.import(boc, boc.roots[0]!);
}
