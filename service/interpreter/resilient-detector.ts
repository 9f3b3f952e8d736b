import { TonplaneError } from '../error.ts';
import type { Retry } from '../runtime/retry.ts';
import { readChangedAccount } from '../interfaces/account-code.ts';
import type { ChangedAccount, Detected, DetectionWorld, Detector } from '../interfaces/detector.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ChainSnapshot, ChainSnapshots } from '../live/contracts/chain-snapshot.ts';
import type { Stage } from './retrying.ts';

/** Detects kinds of accounts at masterchain blocks, without a time limit. Rejects only with the reason of the signal. */
export type ResilientDetector = {
  /** Undefined for an account whose code excludes every kind, and for a failed detection. */
  readonly detect: (mcSeqno: number, changed: ChangedAccount, signal: AbortSignal) => Promise<Detected | undefined>;
  /** Detects an account by its address alone. */
  readonly detectUnknown: (mcSeqno: number, account: AccountId, signal: AbortSignal) => Promise<Detected | undefined>;
};

export type ResilientDetectorDependencies = {
  readonly worlds: Pick<ChainSnapshots, 'open'>;
  readonly detector: Detector;
  readonly retry: Retry<Stage>;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
  /** Called for a block that no lite server has any more. The account was read at the head instead. */
  readonly onFallback: () => void;
  /** Called for an account whose own detection fails. No rows are written for it. */
  readonly onGivenUp: (account: AccountId, error: unknown) => void;
};

/** Concurrent detections. They mostly wait for lite servers, and a few are enough for a thread of the emulator. */
const CONCURRENT_MAX = 16;

/** Limit of one detection: a few reads and runs. A healthy pool answers in a tenth of it. */
const DETECTION_MS = 30_000;

/**
 * Bounds of a visit to the emulator. Gas ends each method first (service/interfaces/README.md#bounds). This limit is far more than
 * that gas takes, so that a busy machine does not decide what an account is.
 */
const VISIT = { payer: 'interpreter', wallMs: 10_000 } as const;

/** Tries of a failure of the account itself, or of a missing block. The second try may reach another lite server or thread. */
const OWN_TRIES_MAX = 3;

export function createResilientDetector({
  worlds,
  detector,
  retry,
  now,
  onFallback,
  onGivenUp,
}: ResilientDetectorDependencies): ResilientDetector {
  const gate = createGate(CONCURRENT_MAX);

  /** Opens the block at the first read, because the code of most accounts excludes every kind. */
  function worldAt(mcSeqno: number | undefined, signal: AbortSignal): DetectionWorld {
    let opening: Promise<ChainSnapshot> | undefined;
    const opened = (): Promise<ChainSnapshot> =>
      (opening ??= worlds.open(mcSeqno, {
        deadlineMs: now() + DETECTION_MS,
        signal,
        caller: VISIT.payer,
        getMethods: VISIT,
      }));
    return {
      readAccount: async (account) => (await opened()).readAccount(account),
      runMethod: async (call) => (await opened()).runMethod(call),
      runMethods: async (calls) => (await opened()).runMethods(calls),
      readDnsRoot: async () => (await opened()).readDnsRoot(),
    };
  }

  function run(
    mcSeqno: number,
    account: AccountId,
    work: (world: DetectionWorld) => Promise<Detected | undefined>,
    signal: AbortSignal,
  ): Promise<Detected | undefined> {
    let place: number | undefined = mcSeqno;
    let ownTries = 0;
    const attempt = async (): Promise<Detected | undefined> => {
      try {
        return await gate.run(() => work(worldAt(place, AbortSignal.any([signal, AbortSignal.timeout(DETECTION_MS)]))));
      } catch (error) {
        if (signal.aborted || !isOwn(error)) throw error;
        ownTries += 1;
        if (ownTries < OWN_TRIES_MAX) throw error;
        if (isGone(error) && place !== undefined) {
          place = undefined;
          ownTries = 0;
          onFallback();
          return attempt();
        }
        onGivenUp(account, error);
        return undefined;
      }
    };
    return retry.run('detect', mcSeqno, attempt, signal);
  }

  return {
    detect: (mcSeqno, changed, signal) =>
      run(mcSeqno, changed.account, (world) => detector.detect(world, changed), signal),
    detectUnknown: (mcSeqno, account, signal) =>
      run(mcSeqno, account, async (world) => detector.detect(world, await readChangedAccount(world, account)), signal),
  };
}

/** True for a failure that recurs: of the contract itself, or of a block that lite servers no longer have. */
function isOwn(error: unknown): boolean {
  if (!(error instanceof TonplaneError) || isGone(error) || error.code === 'tvm_crashed') return true;
  return !error.retryable && !ended.has(error.code);
}

/** Codes of an ended wait or process. They contain no information about the account. */
const ended: ReadonlySet<string> = new Set(['aborted', 'closed', 'tvm_aborted', 'tvm_closed']);

/** No lite server has the state of the block any more. */
function isGone(error: unknown): boolean {
  return error instanceof TonplaneError && error.code === 'pruned';
}

/** Bounds concurrent work, in the order of arrival. */
function createGate(max: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
      else running += 1;
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
