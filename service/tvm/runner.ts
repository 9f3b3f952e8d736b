import { parseBoc } from '../decode/boc.ts';
import type { Emulator, EmulatorAnswer } from './emulator.ts';
import { EmulatorFault } from './emulator.ts';
import { readGasTrace } from './gas-trace.ts';
import { LOG_CHARACTERS_MAX } from './job.ts';
import type { Job, JobConfig, JobOutput, MethodOutput, RefusedOutput } from './job.ts';
import { withPreviousBlocks } from './previous-blocks.ts';
import { readsWorld, slimConfig } from './slim-config.ts';
import { createTransactionEmulator, type TransactionEmulator } from './transaction-emulator.ts';

/** Runs jobs in one emulator. The newest configurations stay in its memory. */
export type Runner = {
  /** True when a run has made the emulator unusable. Then no further job may be run. */
  readonly isBroken: boolean;
  /** Runs a job. A run that the emulator ends without an answer is refused, and later calls of the job are not started. */
  run(job: Job): JobOutput;
};

type MethodsJob = Job & { readonly kind: 'getMethods' };

/** Most cached configurations: of the served head, of the head before a key block, and some of the past. */
const CONFIGS_MAX = 4;

/** Configuration in the emulator's memory. */
type CachedConfig = { readonly full: number; readonly slim: number; transactions: TransactionEmulator | undefined };

export function createRunner(emulator: Emulator): Runner {
  const configs = new Map<string, CachedConfig>();
  let isBroken = false;

  function keepConfig({ key, boc }: JobConfig): CachedConfig {
    const known = configs.get(key);
    configs.delete(key);
    if (known === undefined && configs.size >= CONFIGS_MAX) {
      const [oldest, { full, slim, transactions }] = [...configs][0]!;
      transactions?.destroy();
      emulator.release(full);
      emulator.release(slim);
      configs.delete(oldest);
    }
    const cached = known ?? readConfig(Buffer.from(boc));
    configs.set(key, cached);
    return cached;
  }

  function readConfig(boc: Buffer): CachedConfig {
    const slim = slimConfig(parseBoc(boc));
    const [fullText, slimText] = [boc, slim].map((bytes) => bytes.toString('base64'));
    return { full: emulator.keep(fullText!), slim: emulator.keep(slimText!), transactions: undefined };
  }

  function runGetMethods(job: MethodsJob, cached: CachedConfig): JobOutput {
    const runs: MethodOutput[] = [];
    let gasUsed = 0;
    for (const call of job.calls) {
      if (gasUsed >= job.gasMax || isBroken) break;
      const run = orRefused(() => runGetMethod(job, call, cached));
      if (run.kind === 'ran') gasUsed += Number(run.gasUsed);
      runs.push(run);
    }
    return { kind: 'getMethods', runs };
  }

  function runGetMethod(
    job: MethodsJob,
    call: MethodsJob['calls'][number],
    { slim, full }: CachedConfig,
  ): MethodOutput {
    const run = (config: number, previousBlocks: string): EmulatorAnswer =>
      JSON.parse(emulator.runGetMethod(methodParams(job, call, previousBlocks), call.stack, config)) as EmulatorAnswer;
    const quick = run(slim, '');
    const whole = readsWorld(quick.output?.vm_log ?? '');
    const { output, message } = whole ? run(full, job.previousBlocks) : quick;
    if (output?.success !== true) return { kind: 'refused', error: output?.error ?? message ?? 'no output' };
    return {
      kind: 'ran',
      exitCode: output.vm_exit_code!,
      gasUsed: BigInt(output.gas_used!),
      stack: Buffer.from(output.stack!, 'base64'),
      missingLibrary: output.missing_library ?? undefined,
      config: whole ? 'full' : 'slim',
      log: logOf(job, output.vm_log),
    };
  }

  function runTransaction(job: Job & { kind: 'transaction' }, cached: CachedConfig): JobOutput {
    const { gasTrace } = job;
    const verbosity = gasTrace ? 3 : job.log ? 1 : 0;
    if (verbosity === 0) cached.transactions ??= createTransactionEmulator(emulator, cached.full, 0);
    const transactions =
      verbosity === 0 ? cached.transactions : createTransactionEmulator(emulator, cached.full, verbosity);
    if (transactions === undefined) return { kind: 'refused', error: 'the configuration cannot be read' };
    const answer = transactions.run(job);
    if (verbosity > 0) transactions.destroy();
    const { output } = answer;
    if (output === undefined) return { kind: 'refused', error: answer.message ?? 'no output' };
    const libraryFailed = output.vm_log?.includes('failed to load library cell') ?? false;
    const log = job.log ? output.vm_log?.slice(-LOG_CHARACTERS_MAX) : undefined;
    if (!output.success) {
      return { kind: 'rejected', error: output.error ?? 'no error', exitCode: output.vm_exit_code, libraryFailed, log };
    }
    const [transaction, account, actions] = [output.transaction, output.shard_account, output.actions].map((boc) =>
      typeof boc === 'string' ? Buffer.from(boc, 'base64') : undefined,
    );
    const trace = gasTrace ? readGasTrace(output.vm_log ?? '') : undefined;
    return {
      kind: 'transaction',
      transaction: transaction!,
      shardAccount: account!,
      actions,
      gasTrace: trace,
      libraryFailed,
      log,
    };
  }

  function orRefused<T>(run: () => T): T | RefusedOutput {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof EmulatorFault)) throw error;
      isBroken = true;
      return { kind: 'refused', error: error.message, fault: error.kind };
    }
  }

  return {
    get isBroken() {
      return isBroken;
    },
    run(job) {
      const cached = keepConfig(job.config);
      return job.kind === 'getMethods' ? runGetMethods(job, cached) : orRefused(() => runTransaction(job, cached));
    },
  };
}

/** Builds the parameters of a method. `params` is a JSON object, the blocks are base64. */
function methodParams({ params }: Job, { methodId }: MethodsJob['calls'][number], previousBlocks: string): string {
  return withPreviousBlocks(`${params.slice(0, -1)},"method_id":${methodId}}`, previousBlocks);
}

function logOf(job: MethodsJob, log: string | undefined): string | undefined {
  return job.log ? log?.slice(0, LOG_CHARACTERS_MAX) : undefined;
}
