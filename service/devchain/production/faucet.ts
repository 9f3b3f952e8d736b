import { sign } from 'node:crypto';

import { BitWriter } from '#service/decode/bit-writer.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { InternalInfo } from '#service/decode/tlb/message.ts';
import { writeStandardAddress } from '#service/decode/tlb/message-address.ts';
import type { Chain, ChainBlock } from '../chain/chain.ts';
import type { ExternalMessage, ExternalOutcome } from '../collator/external-message.ts';
import { DevchainError } from '../chain/errors.ts';
import { validatorKey } from '../chain/signing.ts';
import { accountAt } from '../chain/snapshots.ts';
import { WALLET_ID } from '../zerostate/wallet.ts';

/** Sends money from the network's own wallet to any requester. */
export type Faucet = {
  /**
   * Resolves when the wallet's transaction is in a block. The receiver's transaction is in the same block, or in a following block of
   * another chain. An account that does not exist yet still receives the money.
   * @throws DevchainError `faucet_busy`, `transfer_refused`
   */
  fund(destination: FundedAccount, nanotons: bigint): Promise<Funded>;
};

export type FundedAccount = { readonly workchain: number; readonly id: Buffer };

export type Funded = {
  /** Hash of the message from outside that made the wallet send. */
  readonly messageHash: Buffer;
  /** Masterchain block that has the wallet's transaction in its history. */
  readonly seqno: number;
};

export type FaucetDependencies = {
  readonly chain: Chain;
  /** Function `PrivateNetwork.send`. */
  readonly send: (boc: Buffer) => void;
  /** Function `PrivateNetwork.onOutcome`. */
  readonly onOutcome: (listener: (message: ExternalMessage, outcome: ExternalOutcome) => void) => () => void;
  /** Function `PrivateNetwork.head`. */
  readonly head: () => ChainBlock;
  /** Unix time in milliseconds. */
  readonly now: () => number;
};

/** Transfers that wait for their turn: a minute's worth at a block a second. */
const WAITING_MAX = 240;

/** Most transfers within a minute. A faster script probably has an unintended loop. */
const PER_MINUTE_MAX = 600;

/** Most messages in one transfer of a wallet v4. */
const BATCH_MAX = 4;

/** Fees are paid separately from the amount. A message that cannot be sent does not stop the others. */
const SEND_MODE = 3;

/** The wallet's messages never expire. */
const NEVER = 0xffff_ffff;

type Job = {
  readonly destination: FundedAccount;
  readonly nanotons: bigint;
  readonly resolve: (funded: Funded) => void;
  readonly reject: (error: unknown) => void;
};

/** @param wallet a wallet v4r2 of the basechain that is there */
export function createFaucet(
  wallet: { readonly id: Buffer; readonly seed: Buffer },
  dependencies: FaucetDependencies,
): Faucet {
  const { chain, send, onOutcome, head, now } = dependencies;
  const waiting: Job[] = [];
  let recent: number[] = [];
  let busy = false;

  function refuseExcess(): void {
    const nowMs = now();
    recent = recent.filter((at) => nowMs - at < 60_000);
    const untilFree = recent.length < PER_MINUTE_MAX ? 0 : 60_000 - (nowMs - recent[0]!);
    if (untilFree === 0 && waiting.length < WAITING_MAX) {
      recent.push(nowMs);
      return;
    }
    const retryAfterSeconds = Math.max(1, Math.ceil(untilFree / 1000));
    throw new DevchainError({
      code: 'faucet_busy',
      message: `the faucet sends ${PER_MINUTE_MAX} times a minute and lets ${WAITING_MAX} wait; try again in ${retryAfterSeconds} s`,
      data: { retryAfterSeconds },
      retryable: true,
    });
  }

  /** Sends a message for up to four waiting transfers. When the message is in a block, sends the next. */
  function sendNext(): void {
    if (busy || waiting.length === 0) return;
    busy = true;
    const jobs = waiting.splice(0, BATCH_MAX);
    let stopListening: (() => void) | undefined;
    const settle = (act: (job: Job) => void): void => {
      stopListening?.();
      busy = false;
      jobs.forEach(act);
      sendNext();
    };
    try {
      const { boc, hash } = writeTransfers(wallet, seqnoOf(chain, head(), wallet.id), jobs);
      const text = boc.toString('base64');
      stopListening = onOutcome((message, outcome) => {
        if (message.text !== text) return;
        if (outcome.kind === 'rejected') {
          settle(({ reject }) => reject(refused('a block did not take it')));
          return;
        }
        const funded = { messageHash: hash, seqno: head().id.seqno };
        const unsent = unsentOf(jobs, outcome.sent);
        const error = refused('the action phase left the transfer out');
        settle((job) => (unsent.has(job) ? job.reject(error) : job.resolve(funded)));
      });
      send(boc);
    } catch (error) {
      settle(({ reject }) => reject(refused(error instanceof Error ? error.message : String(error), error)));
    }
  }

  return {
    async fund(destination, nanotons) {
      refuseExcess();
      const { promise, resolve, reject } = Promise.withResolvers<Funded>();
      waiting.push({ destination, nanotons, resolve, reject });
      sendNext();
      return await promise;
    },
  };
}

/** Transfers that the wallet's transaction did not send. Its messages are in the order of the transfers. */
function unsentOf(jobs: readonly Job[], sent: readonly InternalInfo[]): ReadonlySet<Job> {
  const rest = [...sent];
  return new Set(
    jobs.filter(({ destination, nanotons }) => {
      const [next] = rest;
      const isSent =
        next !== undefined &&
        next.destination.workchain === destination.workchain &&
        next.destination.id.equals(destination.id) &&
        next.value.grams === nanotons;
      if (isSent) rest.shift();
      return !isSent;
    }),
  );
}

function refused(reason: string, cause?: unknown): DevchainError<'transfer_refused'> {
  const message = `the faucet cannot send: ${reason}`;
  return new DevchainError({ code: 'transfer_refused', message, data: {}, retryable: true, cause });
}

/** The wallet's number of the next message: the first 32 bits of its data. */
function seqnoOf(chain: Chain, top: ChainBlock, id: Buffer): number {
  const found = accountAt(chain, top, { workchain: 0, id });
  const state = found && readAccount(chain.states, found.account)?.state;
  if (state?.kind !== 'active' || state.init.data === undefined) throw new Error('its wallet is not there any more');
  return new CellSlice(chain.states, state.init.data).uint(32);
}

/** The wallet's message from outside: `signature wallet_id valid_until seqno op`, then for each transfer its mode and message. */
function writeTransfers(
  { id, seed }: { readonly id: Buffer; readonly seed: Buffer },
  seqno: number,
  jobs: readonly Job[],
): { readonly boc: Buffer; readonly hash: Buffer } {
  const store = createCellStore();
  const body = new BitWriter().uint(WALLET_ID, 32).uint(NEVER, 32).uint(seqno, 32).uint(0, 8);
  for (const job of jobs) body.uint(SEND_MODE, 8).ref(storeTransfer(store, job));
  const signed = body.finish(store);
  const signature = sign(undefined, store.hash(signed), validatorKey(seed).privateKey);
  const whole = new BitWriter().bytes(signature).rest(new CellSlice(store, signed)).finish(store);
  // `ext_in_msg_info$10` without a source, import fee or state, with the body in its own cell.
  const message = writeStandardAddress(new BitWriter().uint(0b1000, 4), { workchain: 0, id });
  const root = message.coins(0n).bit(false).bit(true).ref(whole).finish(store);
  return { boc: writeBoc(store, [root]), hash: store.hash(root) };
}

/** `int_msg_info$0` without bounce and body. The network fills in the wallet's address, fees and times. */
function storeTransfer(store: CellStore, { destination, nanotons }: Job): number {
  const message = writeStandardAddress(new BitWriter().uint(0b0100, 4).uint(0, 2), destination);
  return message.coins(nanotons).bit(false).coins(0n).coins(0n).int(0n, 64).uint(0, 32).uint(0, 2).finish(store);
}
