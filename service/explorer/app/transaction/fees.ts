import type { Transaction } from '../objects.ts';

/** Fees of a transaction in nanotons. */
export type Fees = {
  readonly storage: bigint;
  readonly gas: bigint;
  /** Part of the forward fees that stays in this block; the rest goes on with the messages. */
  readonly action: bigint;
  /** Bounce and import fees: what the total has besides. */
  readonly other: bigint;
  readonly total: bigint;
  /** Forward fees that the messages carry on; not in the total. */
  readonly forwarded: bigint;
};

export function feesOf({ description, total_fees: total, out_msgs: sent }: Transaction): Fees {
  const { storage_ph: storagePhase, compute_ph: compute, action: actionPhase } = description;
  const storage = amountOf(storagePhase?.['storage_fees_collected']);
  const gas = amountOf(compute?.gas_fees);
  const action = amountOf(actionPhase?.['total_action_fees']);
  return {
    storage,
    gas,
    action,
    other: BigInt(total) - storage - gas - action,
    total: BigInt(total),
    forwarded: sent.reduce((sum, { fwd_fee: fee }) => sum + amountOf(fee), 0n),
  };
}

function amountOf(value: unknown): bigint {
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : 0n;
}
