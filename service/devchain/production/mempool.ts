import { createHash } from 'node:crypto';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { NO_TRANSACTION, writeShardAccount } from '#service/tvm/shard-account.ts';
import type { Chain } from '../chain/chain.ts';
import type { Executor } from '../collator/executor.ts';
import type { ExternalMessage, ExternalOutcome } from '../collator/external-message.ts';
import { containsPlace } from '../collator/routing.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import type { CheckedMessage } from '../queries/message-queries.ts';
import { reject } from '../queries/message-queries.ts';
import { openMasterchainState } from '../collator/masterchain-state.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';

/** Messages from outside that wait for a block. */
export type Mempool = {
  /**
   * Tries a message on the newest state and stores it.
   * @throws DevchainError `query_refused` with the node's text
   */
  take(message: CheckedMessage): void;
  /** All that wait, in the order in which they came. */
  list(): readonly ExternalMessage[];
  /** Removes the messages that a block took or refused. Returns the number of each. */
  settle(outcomes: ReadonlyMap<ExternalMessage, ExternalOutcome>): void;
  readonly size: number;
};

/** Most waiting messages. The node has 8192 before its queue counts as full. */
const WAITING_MAX = 16_384;

/** Most waiting messages to one account, as in the node. */
const PER_ACCOUNT_MAX = 256;

/** The block does not exist yet when a message is tried, so any seed works. */
const CHECK_SEED = createHash('sha256').update('check').digest();

export type MempoolDependencies = {
  readonly chain: Chain;
  /** Separate from the executor that makes blocks, because a block may be in progress. */
  readonly executor: Executor;
  /** Returns the contracts' view of earlier blocks (`BlockWorld.previousBlocks`). */
  readonly previousBlocks: () => string;
  /** Seconds that the clock of the network is ahead of that of this machine. */
  readonly aheadSeconds?: () => number;
  readonly onOutcome?: (message: ExternalMessage, outcome: ExternalOutcome) => void;
};

export function createMempool({
  chain,
  executor,
  previousBlocks,
  aheadSeconds = () => 0,
  onOutcome,
}: MempoolDependencies): Mempool {
  const waiting = new Set<ExternalMessage>();
  const perAccount = new Map<string, number>();

  function count(message: ExternalMessage, change: 1 | -1): void {
    const key = accountKey(message.destination);
    const number = (perAccount.get(key) ?? 0) + change;
    if (number === 0) perAccount.delete(key);
    else perAccount.set(key, number);
  }

  function run({ destination }: CheckedMessage, text: string): void {
    const { states } = chain;
    const tip = chain.masterchain(chain.lastSeqno)!;
    const reference = openMasterchainState(states, tip.state);
    const home = homeOf(chain, tip, destination);
    const state = readShardState(states, home.state);
    const found = findShardAccount(states, state.accounts, destination.id);
    const account = found
      ? writeShardAccount(
          { table: states, cell: found.account },
          { hash: found.lastTransactionHash, lt: found.lastTransactionLt },
        )
      : writeShardAccount(undefined, NO_TRANSACTION);
    const world = { states, config: reference.config.root, libraries: reference.libraries, randSeed: CHECK_SEED };
    executor.open({ ...world, utime: state.utime, previousBlocks: previousBlocks() });
    const work = { account: account.toString('base64'), message: { boc: text }, lt: state.lt + 1n };
    if (executor.run(work).kind === 'done') return;
    // The reason justifies a second run, in which the VM logs its instructions.
    const outcome = executor.trace(work);
    if (outcome.kind === 'rejected') reject(refusalText(destination.id, outcome) + clockText(aheadSeconds()));
  }

  return {
    take(message) {
      const { destination } = message;
      const text = message.body.toString('base64');
      if (waiting.size >= WAITING_MAX) throw refusal(serverCode.notReady, 'too many pending external message checks');
      if ((perAccount.get(accountKey(destination)) ?? 0) >= PER_ACCOUNT_MAX) {
        reject(`too many external messages to address ${destination.workchain}:${hex(destination.id)}`);
      }
      run(message, text);
      const external: ExternalMessage = { text, destination };
      waiting.add(external);
      count(external, 1);
    },
    list: () => [...waiting],
    settle(outcomes) {
      for (const [message, outcome] of outcomes) {
        if (waiting.delete(message)) count(message, -1);
        onOutcome?.(message, outcome);
      }
    },
    get size() {
      return waiting.size;
    },
  };
}

function homeOf(chain: Chain, tip: ChainBlock, { workchain, id }: CheckedMessage['destination']): ChainBlock {
  if (workchain === MASTERCHAIN) return tip;
  const place = { workchain, prefix: id.readBigUInt64BE(0) };
  const top = tip.shards.find(({ block }) => containsPlace(block, place));
  return chain.find(top!.block)!;
}

function accountKey({ workchain, id }: CheckedMessage['destination']): string {
  return `${workchain}:${id.toString('latin1')}`;
}

function hex(id: Buffer): string {
  return id.toString('hex').toUpperCase();
}

/** Renders the node's text for a message that a contract did not accept. */
function refusalText(id: Buffer, { exitCode, log }: Extract<ExternalOutcome, { kind: 'rejected' }>): string {
  const head = 'External message was not accepted\nCannot run message on account: inbound external message rejected by';
  if (exitCode === undefined) return `${head} account ${hex(id)} before smart-contract execution`;
  const steps = log.split('\n').filter((line) => line.startsWith('execute ')).length;
  const gasLeft = Number(log.slice(log.lastIndexOf(GAS_LEFT) + GAS_LEFT.length).split('\n')[0]);
  const gasUsed = log.includes(GAS_LEFT) ? GAS_CREDIT - gasLeft : 0;
  const tail = log === '' ? '' : `\nVM Log (truncated):\n...${log.slice(-LOG_CHARACTERS_MAX)}`;
  return `${head} transaction ${hex(id)}:\nexitcode=${exitCode}, steps=${steps}, gas_used=${gasUsed}${tail}`;
}

/** A lead that no wallet notices: most messages are valid for a minute. */
const LEAD_SECONDS_MIN = 10;

/** A wallet that signs by the clock of its machine is refused for it, and no other text gives the reason. */
function clockText(aheadSeconds: number): string {
  if (aheadSeconds < LEAD_SECONDS_MIN) return '';
  return `\nThe clock of the network is ${aheadSeconds} s ahead of the clock of this machine: a message must be valid until a later time than now() of the network.`;
}

/** Prefix in the log after each instruction. */
const GAS_LEFT = 'gas remaining: ';

/** Gas that a message from outside may use before a contract accepts it (parameters 20 and 21). */
const GAS_CREDIT = 10_000;

/** The node reports the end of the log. */
const LOG_CHARACTERS_MAX = 256;
