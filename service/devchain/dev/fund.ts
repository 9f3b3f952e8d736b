import { setImmediate as pause } from 'node:timers/promises';

import { DevchainError } from '../chain/errors.ts';
import type { Faucet } from '../production/faucet.ts';
import type { PrivateNetwork } from '../private-network.ts';
import type { Fields } from './fields.ts';
import { readPlace } from './fields.ts';
import { readAmount } from './ton-amount.ts';

export type Funding = {
  readonly network: Pick<PrivateNetwork, 'ensure' | 'step' | 'shardBlocks' | 'delayedSeconds'>;
  readonly faucet: Faucet;
};

export type Funded = { readonly message_hash: string; readonly amount: string; readonly seqno: number };

/** Most blocks until a transfer is in one: 240 transfers may wait, a message has four of them, and signed blocks may come first. */
const BLOCKS_MAX = 64;

/**
 * `dev_fund`: ends a hold of shard blocks, and makes the blocks of the transfer. `address` may have any form; `amount` is in TON.
 * @throws DevchainError `bad_argument`, `faucet_busy`, `transfer_refused`
 */
export async function fundAtOnce({ network, faucet }: Funding, fields: Fields): Promise<Funded> {
  const { destination, amount } = readTransfer(fields);
  // A block with money for an unavailable account of a forked network could not be made.
  await network.ensure(destination);
  network.shardBlocks.hold(false);
  const transfer = faucet.fund(destination, amount);
  const ended = transfer.then(
    () => true,
    () => true,
  );
  for (let block = 0; block < BLOCKS_MAX; block++) {
    await network.step();
    if (await Promise.race([ended, pause(false)])) return shown(await transfer, amount);
  }
  throw unfinished();
}

/**
 * `POST /faucet`: the network's own blocks take the transfer. Refused while they take none: a caller who repeats a request that timed out
 * would be paid twice.
 * @param makesBlocks nothing else makes blocks, so the transfer does
 * @throws DevchainError as `fundAtOnce`, and `faucet_paused`
 */
export async function fundInTime(funding: Funding, fields: Fields, makesBlocks: boolean): Promise<Funded> {
  const { network, faucet } = funding;
  const { destination, amount } = readTransfer(fields);
  if (network.shardBlocks.isHeld()) throw paused('dev_holdShardBlocks holds the shard blocks');
  if (makesBlocks) return await fundAtOnce(funding, fields);
  const delay = network.delayedSeconds();
  if (delay > 0) throw paused(`dev_delayBlocks delays the next block for ${delay} s`, delay);
  await network.ensure(destination);
  return shown(await faucet.fund(destination, amount), amount);
}

function readTransfer(fields: Fields) {
  return { destination: readPlace(fields), amount: readAmount(fields['amount']) };
}

function shown({ messageHash, seqno }: Awaited<ReturnType<Faucet['fund']>>, amount: bigint): Funded {
  return { message_hash: messageHash.toString('base64'), amount: amount.toString(), seqno };
}

function paused(reason: string, retryAfterSeconds = 1): DevchainError<'faucet_paused'> {
  const message = `the faucet sends nothing now: ${reason}; try again later, or call dev_fund`;
  return new DevchainError({ code: 'faucet_paused', message, data: { retryAfterSeconds }, retryable: true });
}

function unfinished(): DevchainError<'transfer_refused'> {
  const message = `the faucet's transfer is in none of ${BLOCKS_MAX} blocks, and may come in a later one`;
  return new DevchainError({ code: 'transfer_refused', message, data: {}, retryable: false });
}
