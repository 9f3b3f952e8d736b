import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { parseBoc } from '../decode/boc.ts';
import { DEPTH_MAX } from '../decode/cell-table.ts';
import { DecodeError } from '../decode/errors.ts';
import type { ThreadBudget } from './bill.ts';
import { TvmError, badRequest } from './errors.ts';
import type { GasTrace } from './gas-trace.ts';
import type { JobOutput, MethodOutput, RefusedOutput } from './job.ts';
import type { FetchLibrary } from './libraries.ts';
import { createLibraries, listLibraryHashes } from './libraries.ts';
import { createLibraryRuns } from './library-runs.ts';
import { getMethodParams, seedParams, writeStack } from './method-params.ts';
import { createTvmMetrics } from './metrics.ts';
import type { TvmOptions } from './options.ts';
import { TVM_DEFAULTS } from './options.ts';
import type { PreviousBlocks } from './previous-blocks.ts';
import { previousBlocksTuple } from './previous-blocks.ts';
import type { OpenedShardAccount } from './shard-account.ts';
import { createSharedConfigs } from './shared-configs.ts';
import { decodeStack } from './stack-reader.ts';
import { encodeStackEntry } from './stack-writer.ts';
import type { StackEntry } from './stack.ts';
import { createEmulatorPool } from './emulator-pool.ts';

/** Configuration: root hash of its dictionary (32 bytes), and the dictionary `Hashmap 32 ^Cell` as a bag of cells. */
export type TvmConfig = { readonly hash: Buffer; readonly boc: Buffer };

/** Environment of a call: the values of the block that it is pinned to. */
export type TvmWorld = {
  readonly config: TvmConfig;
  /** Previous blocks. If absent, the contract sees null. */
  readonly previousBlocks?: PreviousBlocks;
  /** Unix seconds: `gen_utime` of the block whose state the account is in. */
  readonly utime: number;
  /** 32 bytes. */
  readonly randSeed: Buffer;
  /** Fetches libraries that the call needs. If absent, there are no libraries. */
  readonly fetchLibrary?: FetchLibrary;
  /** Id of the caller. Thread time of a payer is shared among its callers. */
  readonly caller?: string;
  /** Id of the payer of thread time; default: the caller. Calls without payer and caller share a payer. */
  readonly payer?: string;
  /** Longest run of one call, in milliseconds; default `TvmOptions.wallTimeMs`. */
  readonly wallMs?: number;
  /** Bounds this call together with others. A call without time left rejects with `tvm_timeout`. */
  readonly budget?: ThreadBudget;
  /** Rejects the call with `tvm_aborted`, and ends its run unless that is nearly over. */
  readonly signal?: AbortSignal;
  /** True to return the VM's log: the first 64 Ki characters for a get-method, the last for a transaction. */
  readonly log?: boolean;
};

/** State of an account for get-methods. */
export type MethodSubject = TvmWorld & {
  /** Code and data as bags of cells; null for an account without code. */
  readonly code: Buffer | null;
  readonly data: Buffer | null;
  readonly address: { readonly workchain: number; readonly id: Buffer };
  /** Nanotons. */
  readonly balance: bigint;
  readonly extraCurrencies?: readonly { readonly id: number; readonly amount: bigint }[];
  /** Most gas of each call. */
  readonly gasLimit?: number;
};

export type MethodArguments = {
  /** Signed 32 bits. */
  readonly methodId: number;
  /** Arguments, the last one on top. */
  readonly stack: readonly StackEntry[];
  /** `encodeStack` of the stack; default: written here, in one turn. */
  readonly written?: Buffer | undefined;
};

export type GetMethodRequest = MethodSubject & MethodArguments;

export type GetMethodsRequest = MethodSubject & {
  readonly calls: readonly MethodArguments[];
  /** Gas of earlier calls after which no further call starts. */
  readonly gasTotal: number;
};

export type GetMethodResult = {
  /** 0 and 1 are success, -14 out of gas, -13 an account without code. Other codes come from the contract. */
  readonly exitCode: number;
  readonly gasUsed: bigint;
  /** Resulting stack, the last entry on top. */
  readonly stack: readonly StackEntry[];
  /** Libraries that were requested and are not in the masterchain. The run failed on the last one. */
  readonly missingLibraries: readonly Buffer[];
  readonly log?: string;
};

export type EmulationRequest = TvmWorld & {
  readonly shardAccount: Pick<OpenedShardAccount, 'boc' | 'table'>;
  /** Inbound message as a bag of cells, or the tick or tock of a special account in a masterchain block. */
  readonly message: Buffer | 'tick' | 'tock';
  /** Start lt of the transaction's block, or lt of the transaction itself. It must be above the account's last lt. */
  readonly lt: bigint;
  /** Every signature counts as good. */
  readonly ignoreSignature?: boolean;
  /** True to record the gas of each instruction. */
  readonly gasTrace?: boolean;
};

export type EmulationResult =
  | {
      readonly kind: 'transaction';
      /** `Transaction`, the `ShardAccount` after it and, if the compute phase ended well, its `OutList`: bags of cells. */
      readonly transaction: Buffer;
      readonly shardAccount: Buffer;
      readonly actions?: Buffer;
      readonly gasTrace?: GasTrace;
      readonly log?: string;
    }
  /** Result without a transaction: the external message was not accepted, or cannot be paid for. */
  | { readonly kind: 'rejected'; readonly error: string; readonly exitCode?: number; readonly log?: string };

/** Runs contracts in the node's own VM, off the event loop. */
export type Tvm = {
  /** Throws TvmError, and errors of `fetchLibrary`. */
  runGetMethod(request: GetMethodRequest): Promise<GetMethodResult>;
  /**
   * Runs several get-methods of one account, in one visit of a thread unless they use much gas. Returns results in the order of the calls, or an
   * error for a single call. Calls that did not start are missing. Throws like `runGetMethod` if shared inputs are wrong.
   */
  runGetMethods(request: GetMethodsRequest): Promise<readonly (GetMethodResult | TvmError)[]>;
  /** Throws TvmError, and errors of `fetchLibrary`. */
  emulateTransaction(request: EmulationRequest): Promise<EmulationResult>;
  /** Ends the threads. Running and waiting calls reject with `tvm_closed`. */
  close(): Promise<void>;
};

export type TvmDependencies = {
  readonly register: Registry;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
};

/**
 * The emulator's text for a stack that is too deep or has too many entries; it does not say which. It throws for a stack that is one cell too
 * deep.
 */
const STACK_REFUSAL = "Couldn't serialize stack";

/** Most entries of a result that the emulator can write, entries of tuples included: its code has 3,500 steps, one of them for the stack. */
const RESULT_ENTRIES_MAX = 3499;

/** Exit code of a call of an account without code (service/liteserver/README.md#functions and `vm::run_vm_code` with null code). */
const NO_CODE = -13;

/** Gas of the calls of one visit, except the last. With a last call of a million gas they take at most half of the wall limit. */
const VISIT_GAS = 500_000;

/** Creates a TVM; its first thread starts at once. */
export function createTvm(options: TvmOptions, { register, logger, now }: TvmDependencies): Tvm {
  const settings = { ...TVM_DEFAULTS, workerUrl: new URL('worker.ts', import.meta.url), ...options };
  const metrics = createTvmMetrics(register, () => threads.queueLength);
  const threads = createEmulatorPool(settings, { metrics, logger, now });
  const libraries = createLibraries(settings.libraryBytesMax, metrics);
  const runWithLibraries = createLibraryRuns({ wallTimeMs: settings.wallTimeMs }, { threads, libraries });
  const shareConfig = createSharedConfigs();
  const writtenBlocks = new WeakMap<PreviousBlocks, string>();

  function writePreviousBlocks(blocks: PreviousBlocks | undefined): string {
    if (blocks === undefined) return '';
    const known = writtenBlocks.get(blocks);
    if (known !== undefined) return known;
    const text = encodeStackEntry(previousBlocksTuple(blocks)).toString('base64');
    writtenBlocks.set(blocks, text);
    return text;
  }

  async function runGetMethods(request: GetMethodsRequest): Promise<(GetMethodResult | TvmError)[]> {
    const { code, calls } = request;
    if (code === null) return calls.map(runWithoutCode);
    const written = calls.map((call) => ({ methodId: call.methodId, stack: writeStack(call) }));
    const config = shareConfig(request.config);
    const params = { ...getMethodParams(request, code, settings.gasLimit), ...seedParams(request) };
    const previousBlocks = writePreviousBlocks(request.previousBlocks);
    const log = request.log === true;
    const shared = { kind: 'getMethods', config, previousBlocks, log } as const;
    const results: (GetMethodResult | TvmError)[] = [];
    for (let gasLeft = request.gasTotal; results.length < written.length && gasLeft > 0;) {
      const left = written.slice(results.length);
      const { output, missing } = await runWithLibraries(
        request,
        listMentionedOnce(code),
        (libs) => ({
          ...shared,
          gasMax: Math.min(VISIT_GAS, gasLeft),
          calls: left,
          params: JSON.stringify({ ...params, libs }),
        }),
        (ran) => (ran.kind === 'getMethods' ? ran.runs.flatMap(missingOf) : []),
      );
      if (output.kind !== 'getMethods') throw refused(output);
      const missingLibraries = missing.map((hash) => Buffer.from(hash, 'hex'));
      results.push(...output.runs.map((run) => readRun(run, missingLibraries)));
      for (const run of output.runs) gasLeft -= run.kind === 'ran' ? Number(run.gasUsed) : 0;
    }
    return results;
  }

  function readRun(run: MethodOutput, missingLibraries: readonly Buffer[]): GetMethodResult | TvmError {
    if (run.kind === 'refused') return refusedRun(run);
    const { exitCode, gasUsed, log } = run;
    if (exitCode === NO_CODE && gasUsed === 0n) return badRequest('the code or the data are no bag of cells');
    metrics.gas.inc({ kind: 'getMethod' }, Number(gasUsed));
    metrics.configs.inc({ config: run.config });
    try {
      const stack = decodeStack(run.stack);
      return { exitCode, gasUsed, stack, missingLibraries, ...(log === undefined ? {} : { log }) };
    } catch (error) {
      if (error instanceof TvmError) return error;
      throw error;
    }
  }

  async function runGetMethod({ methodId, stack, written, ...subject }: GetMethodRequest): Promise<GetMethodResult> {
    const [result] = await runGetMethods({ ...subject, calls: [{ methodId, stack, written }], gasTotal: 1 });
    if (result instanceof TvmError) throw result;
    return result!;
  }

  async function emulateTransaction(request: EmulationRequest): Promise<EmulationResult> {
    const { message } = request;
    const config = shareConfig(request.config);
    const params = JSON.stringify(emulationParams(request));
    const { shardAccount } = request;
    const inbound = typeof message === 'string' ? Buffer.alloc(0) : message;
    const mentioned = [...listLibraryHashes(shardAccount.table), ...listMentioned(inbound)];
    const wants = { log: request.log === true, gasTrace: request.gasTrace === true };
    const previousBlocks = writePreviousBlocks(request.previousBlocks);
    const shared = { kind: 'transaction', config, params, previousBlocks, ...wants } as const;
    const texts = { shardAccount: shardAccount.boc.toString('base64'), message: inbound.toString('base64') };
    const { output } = await runWithLibraries(
      request,
      mentioned,
      (libs) => ({ ...shared, ...texts, libraries: libs }),
      // The emulator does not report which library a transaction lacked, so every mentioned library is tried.
      (ran, found) =>
        'libraryFailed' in ran && ran.libraryFailed
          ? [...mentioned, ...[...found.values()].flatMap(listMentioned)]
          : [],
    );
    if (output.kind === 'getMethods' || output.kind === 'refused') throw refused(output);
    return readEmulation(output);
  }

  async function measure<T>(kind: string, run: () => Promise<T>, resultOf: (value: T) => string): Promise<T> {
    const startedMs = now();
    try {
      const value = await run();
      metrics.calls.inc({ kind, result: resultOf(value) });
      return value;
    } catch (error) {
      metrics.calls.inc({ kind, result: error instanceof TvmError ? error.code : 'failed' });
      throw error;
    } finally {
      metrics.duration.observe({ kind }, (now() - startedMs) / 1000);
    }
  }

  return {
    runGetMethod: (request) =>
      measure(
        'getMethod',
        () => runGetMethod(request),
        ({ exitCode }) => (exitCode === 0 || exitCode === 1 ? 'success' : 'exit'),
      ),
    runGetMethods: (request) =>
      measure(
        'getMethods',
        () => runGetMethods(request),
        () => 'success',
      ),
    emulateTransaction: (request) =>
      measure(
        'transaction',
        () => emulateTransaction(request),
        ({ kind }) => (kind === 'rejected' ? 'rejected' : 'success'),
      ),
    close: () => threads.close(),
  };
}

function emulationParams({ message, utime, lt, ignoreSignature, ...world }: EmulationRequest): object {
  const tickTock = typeof message === 'string' ? { is_tick_tock: true, is_tock: message === 'tock' } : {};
  const call = { utime, lt: lt.toString(), ignore_chksig: ignoreSignature === true, ...tickTock };
  return { ...call, ...seedParams(world) };
}

function runWithoutCode({ methodId, stack }: MethodArguments): GetMethodResult {
  const left: StackEntry[] = [...stack, { type: 'int', value: BigInt(methodId) }];
  return { exitCode: NO_CODE, gasUsed: 0n, stack: left, missingLibraries: [] };
}

function missingOf(run: MethodOutput): string[] {
  return run.kind === 'ran' && run.missingLibrary !== undefined ? [run.missingLibrary.toLowerCase()] : [];
}

/** Libraries mentioned by code, cached as long as its buffer lives, because the same code runs again and again. */
const mentionedLibraries = new WeakMap<Buffer, readonly string[]>();

function listMentionedOnce(boc: Buffer): readonly string[] {
  const known = mentionedLibraries.get(boc);
  if (known !== undefined) return known;
  const hashes = listMentioned(boc);
  mentionedLibraries.set(boc, hashes);
  return hashes;
}

/** Returns the hashes of libraries in a bag of cells; none for an empty buffer. */
function listMentioned(boc: Buffer): string[] {
  if (boc.length === 0) return [];
  try {
    return listLibraryHashes(parseBoc(boc));
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message, error);
    throw error;
  }
}

function refused(output: JobOutput): TvmError {
  if (output.kind !== 'refused') return badRequest(`an answer of kind ${output.kind}`);
  return output.fault === 'trap' ? new TvmError('tvm_crashed', { detail: output.error }) : badRequest(output.error);
}

/** Converts a refusal to an error. Arguments are checked before a run; errors inside the run are its result. */
function refusedRun(run: RefusedOutput): TvmError {
  if (run.fault === 'exception') return resultTooDeep('');
  if (run.error !== STACK_REFUSAL) return refused(run);
  return resultTooDeep(
    ` or has more than ${RESULT_ENTRIES_MAX} entries: a stack or a list of n entries is n cells deep`,
  );
}

/** @param orElse another bound that the result may be over */
function resultTooDeep(orElse: string): TvmError {
  const detail = `the result is deeper than ${DEPTH_MAX} cells${orElse}`;
  return new TvmError('stack_too_deep', { detail, limit: DEPTH_MAX });
}

/** Converts the output of an emulated transaction. */
function readEmulation(output: Extract<JobOutput, { kind: 'transaction' | 'rejected' }>): EmulationResult {
  const log = output.log === undefined ? {} : { log: output.log };
  if (output.kind === 'rejected') {
    const exitCode = output.exitCode === undefined ? {} : { exitCode: output.exitCode };
    return { kind: 'rejected', error: output.error, ...exitCode, ...log };
  }
  const { transaction, actions, gasTrace } = output;
  const outList = actions === undefined ? {} : { actions: toBuffer(actions) };
  const trace = gasTrace === undefined ? {} : { gasTrace };
  return {
    kind: 'transaction',
    transaction: toBuffer(transaction),
    shardAccount: toBuffer(output.shardAccount),
    ...outList,
    ...trace,
    ...log,
  };
}

/** Converts bytes, which come from a thread as a plain array. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
