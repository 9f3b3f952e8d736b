import { createHash } from 'node:crypto';
import { FULL_SHARD, MASTERCHAIN } from './block-id.ts';
import { crc32c } from './crc32c.ts';

/** Validator in configuration parameters 34 and 35 (`validator#53`, `validator_addr#73`). */
export type Validator = {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly weight: bigint;
  /** 32 bytes; undefined for `validator#53`, which has none. */
  readonly adnlAddress: Buffer | undefined;
};

/**
 * Returns the validators of one masterchain session: the first `main` of the list. If the configuration says so, they are shuffled by the session's
 * catchain seqno (service/proof/README.md#validator-set, `ValidatorSetPRNG` of the node).
 * @param main number of validators at the head of `list` that validate the masterchain, at most its length
 * @param catchainSeqno unsigned 32 bits
 */
export function masterchainValidators<V extends Validator>(
  list: readonly V[],
  main: number,
  shuffle: boolean,
  catchainSeqno: number,
): readonly V[] {
  const head = list.slice(0, main);
  if (!shuffle) return head;
  const random = createSetRandom(MASTERCHAIN, FULL_SHARD, catchainSeqno);
  const order: number[] = [];
  for (let place = 0; place < head.length; place++) {
    const other = Number(random(BigInt(place + 1)));
    order[place] = order[other] ?? place;
    order[other] = place;
  }
  return order.map((place) => head[place]!);
}

/**
 * Returns the validators of one session of a shard: `count` of the list, drawn by weight. Each has a weight of 1 in the session
 * (`compute_validator_set` of the node).
 */
export function shardValidators(
  list: readonly Validator[],
  count: number,
  { workchain, shard }: { readonly workchain: number; readonly shard: bigint },
  catchainSeqno: number,
): Validator[] {
  const random = createSetRandom(workchain, shard, catchainSeqno);
  const starts: bigint[] = [];
  let total = 0n;
  for (const { weight } of list) {
    starts.push(total);
    total += weight;
  }
  const chosen: number[] = [];
  for (let place = 0; place < Math.min(count, list.length); place++) {
    // A point among the remaining weights. It moves past each taken validator that begins before it.
    let point = random(total);
    for (const taken of chosen.toSorted((one, other) => one - other)) {
      if (point >= starts[taken]!) point += list[taken]!.weight;
    }
    const index = starts.findLastIndex((start) => start <= point);
    chosen.push(index);
    total -= list[index]!.weight;
  }
  return chosen.map((index) => ({ ...list[index]!, weight: 1n }));
}

/** Prefix that the node adds to a session's validators before hashing them. */
const SET_HASH_MAGIC = 0x901660ed;

/** Returns `gen_validator_list_hash_short` of a session's validators: CRC-32C, unsigned 32 bits (service/proof/README.md#validator-set). */
export function validatorSetHash(catchainSeqno: number, validators: readonly Validator[]): number {
  const bytes = Buffer.alloc(12 + validators.length * 72);
  bytes.writeUInt32LE(SET_HASH_MAGIC, 0);
  bytes.writeUInt32LE(catchainSeqno, 4);
  bytes.writeUInt32LE(validators.length, 8);
  validators.forEach(({ publicKey, weight, adnlAddress }, index) => {
    const at = 12 + index * 72;
    publicKey.copy(bytes, at);
    bytes.writeBigUInt64LE(weight, at + 32);
    adnlAddress?.copy(bytes, at + 40);
  });
  return crc32c(bytes);
}

const SEED_BYTES = 32;

/** Returns numbers in [0, n): the high 64 bits of `draw * n`. Draws are the words of SHA-512 over a counting seed. */
function createSetRandom(workchain: number, shard: bigint, catchainSeqno: number): (n: bigint) => bigint {
  const description = Buffer.alloc(SEED_BYTES + 16);
  description.writeBigUInt64BE(shard, SEED_BYTES);
  description.writeInt32BE(workchain, SEED_BYTES + 8);
  description.writeUInt32BE(catchainSeqno, SEED_BYTES + 12);
  let words = Buffer.alloc(0);
  let at = 0;
  return (n) => {
    if (at >= words.length) {
      words = createHash('sha512').update(description).digest();
      at = 0;
      increment(description, SEED_BYTES);
    }
    const draw = words.readBigUInt64BE(at);
    at += 8;
    return (draw * n) >> 64n;
  };
}

/** Adds one to the big-endian number in the first `length` bytes. */
function increment(bytes: Buffer, length: number): void {
  for (let at = length - 1; at >= 0; at--) {
    bytes[at] = (bytes[at]! + 1) & 255;
    if (bytes[at] !== 0) return;
  }
}
