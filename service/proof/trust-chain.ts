import type { Span } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { BlockId } from '../decode/block-id.ts';
import type { PartialBlockProof } from './answers.ts';
import type { SignatureChecker } from './signature-checker.ts';
import type { TrustedBlocks, ZeroStateId } from './trusted-blocks.ts';
import type { ChainWriter } from './trust-file.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { blockText } from '../decode/block-id.ts';
import { checkBlockProof } from './block-proof.ts';
import { ProofUnavailableError } from './errors.ts';
import { createTrustMetrics } from './metrics.ts';
import { createChainWriter, loadChain } from './trust-file.ts';
import { createTrustedBlocks, zeroStateBlock } from './trusted-blocks.ts';

/** Bounds of a proof, and the span of its trace. */
export type ProofContext = {
  /** Milliseconds of `performance.now()`. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly span?: Span;
};

export type TrustChainOptions = {
  /** `init_block` of the global config: a masterchain block that the operator trusts. */
  readonly initBlock: BlockId;
  /** `zero_state` of the global config. */
  readonly zeroState: ZeroStateId;
  /** `hardforks` of the global config. The highest one above the init block is trusted instead of it. */
  readonly hardforks?: readonly BlockId[];
  /** File of proved key blocks, from which a restart continues. Without it nothing is stored. */
  readonly file?: string;
  /** Milliseconds of one query to lite servers, all attempts together. */
  readonly roundTimeoutMs?: number;
  /** Milliseconds at the start after which waiting proofs query on their own. They wait while the proof in progress brings no new key block. */
  readonly patienceMs?: number;
};

/** Request of one `getBlockProof`: from a trusted block to the block to prove. */
export type BlockProofRequest = { readonly known: BlockId; readonly target: BlockId };

export type TrustChainDependencies = {
  /**
   * Asks a lite server for `getBlockProof` and returns the result of `check`. The mode is 0x1001: target given, chain based on the newer of both. If
   * `check` rejects with ProofError, the answer is refused and another lite server is asked.
   */
  readonly fetchProof: <T>(
    request: BlockProofRequest,
    check: (answer: PartialBlockProof) => Promise<T>,
    context: ProofContext,
  ) => Promise<T>;
  readonly signatures: SignatureChecker;
  readonly register: Registry;
  readonly logger: Logger;
};

/** Chain of masterchain blocks proved from the configured anchor on (service/proof/README.md#key-block-chain). */
export type TrustChain = {
  /**
   * Resolves when the masterchain block is proved: at once for a block proved before, else after asking lite servers. Any height is possible: a block
   * older than the trusted ones is proved backwards. Rejects with ProofError `fork`, `wrong_zerostate`, `wrong_id` without a query. Also rejects with
   * ProofUnavailableError, with the signal's reason, or with the error of `fetchProof`.
   */
  accept(block: BlockId, context: ProofContext): Promise<void>;
  /** Returns true when `accept` would resolve at once. Throws ProofError where `accept` rejects. */
  isAccepted(block: BlockId): boolean;
  /** Returns the newest trusted key block; the anchor at first. */
  newestKeyBlock(): BlockId;
  /** Ends running proofs and stores the last key blocks. */
  close(): Promise<void>;
};

/**
 * Most queries for one block. An answer has up to 16 links. The main network has made fewer than 20,000 key blocks since its start. Even the path
 * from the zero state needs fewer queries.
 */
const ROUNDS_MAX = 2048;

/** Most blocks that are proved at a time. Reads at more blocks at once are refused, not queued. */
const FLIGHTS_MAX = 256;

/** Milliseconds of a query: as long as the pool waits for one answer, and once more for another lite server's. */
const ROUND_TIMEOUT_MS = 20_000;

/** Milliseconds: two or three times the duration of an answer of sixteen links. */
const PATIENCE_MS = 2_000;

type Flight = { readonly abort: AbortController; readonly done: Promise<void>; waiters: number };

/** @throws ProofError `wrong_zerostate` when the anchor is another zero state than the configured one */
export function createTrustChain(options: TrustChainOptions, dependencies: TrustChainDependencies): TrustChain {
  const { fetchProof, signatures, logger } = dependencies;
  const { keyBlockSeqno, storedChains } = createTrustMetrics(dependencies.register);
  const { zeroState } = options;
  const anchor = chooseAnchor(options.initBlock, options.hardforks ?? []);
  const trusted = createTrustedBlocks(anchor, zeroState);
  trusted.has(anchor);
  const writer = restore(options, anchor, trusted);
  const flights = new Map<string, Flight>();
  const ended = new AbortController();
  /** False until a block above the newest key block is proved. Until then one flight fetches key blocks for all. */
  let caughtUp = false;
  let catchingUp: Promise<void> | undefined;
  keyBlockSeqno.set(trusted.newestKeyBlock().seqno);

  function restore({ file }: TrustChainOptions, from: BlockId, blocks: TrustedBlocks): ChainWriter | undefined {
    if (file === undefined) return undefined;
    const root = { anchor: from, zeroState };
    const { state, keyBlocks } = loadChain(file, root);
    storedChains.inc({ state });
    if (state === 'corrupt' || state === 'foreign') logger.warn({ file, state }, 'the stored key blocks are not used');
    for (const block of keyBlocks) blocks.addKeyBlock(block);
    return createChainWriter(file, root, logger);
  }

  function remember(keyBlocks: readonly BlockId[], reached: BlockId): void {
    ended.signal.throwIfAborted();
    for (const block of keyBlocks) trusted.addKeyBlock(block);
    trusted.addBlock(reached);
    if (keyBlocks.length === 0) return;
    keyBlockSeqno.set(trusted.newestKeyBlock().seqno);
    writer?.save(trusted.keyBlocks());
  }

  /** Sends queries one after another until the target is reached; each starts from the last proved block. */
  async function prove(target: BlockId, context: Omit<ProofContext, 'deadlineMs'>): Promise<void> {
    let known = trusted.startFor(target.seqno);
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (trusted.has(target)) return;
      const request = { known, target };
      const check = async (answer: PartialBlockProof): ReturnType<typeof checkBlockProof> => {
        const proved = await checkBlockProof({ ...request, zeroState: zeroStateBlock(zeroState) }, answer, signatures);
        for (const block of [...proved.keyBlocks, proved.reached]) trusted.has(block);
        return proved;
      };
      const deadlineMs = performance.now() + (options.roundTimeoutMs ?? ROUND_TIMEOUT_MS);
      const { keyBlocks, reached } = await fetchProof(request, check, { ...context, deadlineMs });
      remember(keyBlocks, reached);
      // Another flight may have proved further blocks upwards.
      const start = trusted.startFor(target.seqno);
      known = reached.seqno < start.seqno && start.seqno <= target.seqno ? start : reached;
    }
    if (!trusted.has(target))
      throw new ProofUnavailableError('proof_too_far', `${ROUNDS_MAX} questions for ${blockText(target)}`);
  }

  /** Proves a block like `prove`. While the chain has not caught up with the network, one flight at a time goes ahead. */
  async function proveInTurn(target: BlockId, context: Omit<ProofContext, 'deadlineMs'>): Promise<void> {
    const isAhead = target.seqno > trusted.newestKeyBlock().seqno;
    if (!isAhead || caughtUp) return prove(target, context);
    if (catchingUp !== undefined) {
      const before = trusted.newestKeyBlock();
      const patience = delay(options.patienceMs ?? PATIENCE_MS, undefined, { ref: false, signal: context.signal });
      await Promise.race([catchingUp, patience]);
      context.signal.throwIfAborted();
      const isStuck = catchingUp !== undefined && trusted.newestKeyBlock() === before;
      return isStuck ? prove(target, context) : proveInTurn(target, context);
    }
    const proving = prove(target, context);
    const finish = (reached: boolean): void => {
      caughtUp ||= reached;
      catchingUp = undefined;
    };
    catchingUp = proving.then(
      () => finish(true),
      () => finish(false),
    );
    return proving;
  }

  /** Starts a flight under the context of the first caller. It runs while at least one caller waits. */
  function launch(key: string, block: BlockId, context: ProofContext): Flight {
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, ended.signal]);
    const done = proveInTurn(block, { ...context, signal });
    const flight: Flight = { abort, done, waiters: 0 };
    const land = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    abort.signal.addEventListener('abort', land);
    done.then(land, land);
    flights.set(key, flight);
    return flight;
  }

  /** Waits for a flight as long as the caller's signal allows. The last caller to leave ends the flight. */
  function join(flight: Flight, caller: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([caller, ended.signal]);
    flight.waiters++;
    return new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      flight.done.then(resolve, reject);
    }).finally(() => {
      flight.waiters--;
      if (flight.waiters === 0) flight.abort.abort(new ProofUnavailableError('proof_aborted', 'nobody waits'));
    });
  }

  return {
    async accept(block, context) {
      const { signal } = context;
      if (ended.signal.aborted) throw ended.signal.reason;
      if (trusted.has(block)) return;
      signal.throwIfAborted();
      const key = `${block.seqno}:${block.rootHash.toString('hex')}:${block.fileHash.toString('hex')}`;
      const running = flights.get(key);
      if (running === undefined && flights.size >= FLIGHTS_MAX) {
        throw new ProofUnavailableError('proof_overloaded', `${flights.size} blocks are being proved`);
      }
      await join(running ?? launch(key, block, context), signal);
    },
    isAccepted: (block) => trusted.has(block),
    newestKeyBlock: () => trusted.newestKeyBlock(),
    async close() {
      ended.abort(new ProofUnavailableError('proof_closed', 'the chain of trusted blocks is closed'));
      await writer?.flush();
    },
  };
}

/** Returns the init block, or the highest hardfork above it (service/liteserver/README.md#global-config). */
function chooseAnchor(initBlock: BlockId, hardforks: readonly BlockId[]): BlockId {
  return hardforks.reduce((best, block) => (block.seqno > best.seqno ? block : best), initBlock);
}
