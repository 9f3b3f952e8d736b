import type { BlockId } from '../decode/block-id.ts';
import { friendlyAddressOrEmpty, hash, int32, lt, nano, shardId, uint31 } from './scalars.ts';
import { constant, named, object, type Infer } from '../contract/shape.ts';

/** Shared objects of the contract, shape and writer (service/v2/README.md#shared-objects). */

/** Tag of every block id (service/v2/README.md#shared-objects). */
const blockIdTag = named('BlockIdTag', constant('ton.blockIdExt'));

export const blockIdExt = named(
  'BlockIdExt',
  object({
    '@type': blockIdTag,
    workchain: int32,
    shard: shardId,
    seqno: uint31,
    root_hash: hash,
    file_hash: hash,
  }),
);

export function viewBlockId(block: BlockId): Infer<typeof blockIdExt> {
  return {
    '@type': 'ton.blockIdExt',
    workchain: block.workchain,
    shard: BigInt.asIntN(64, block.shard).toString(),
    seqno: block.seqno,
    root_hash: viewHash(block.rootHash),
    file_hash: viewHash(block.fileHash),
  };
}

export const transactionId = named('TransactionId', object({ '@type': constant('internal.transactionId'), lt, hash }));

export function viewTransactionId(transaction: {
  readonly lt: bigint;
  readonly hash: Buffer;
}): Infer<typeof transactionId> {
  return {
    '@type': 'internal.transactionId',
    lt: transaction.lt.toString(),
    hash: viewHash(transaction.hash),
  };
}

export const extraCurrency = named(
  'ExtraCurrency',
  object({ '@type': constant('extraCurrency'), id: int32, amount: nano }),
);

/** Maximum extra currencies in an account's answer (service/v2/README.md#shared-objects). */
export const EXTRA_CURRENCIES_MAX = 1024;

export function viewExtraCurrency(currency: {
  readonly id: number;
  readonly amount: bigint;
}): Infer<typeof extraCurrency> {
  return { '@type': 'extraCurrency', id: currency.id, amount: currency.amount.toString() };
}

export const accountAddress = named(
  'AccountAddress',
  object({ '@type': constant('accountAddress'), account_address: friendlyAddressOrEmpty }),
);

/** @param address friendly form; empty when there is no such account */
export function viewAccountAddress(address: string): Infer<typeof accountAddress> {
  return { '@type': 'accountAddress', account_address: address };
}

/** Standard base64 with padding, 44 characters for 32 bytes. */
export function viewHash(bytes: Buffer): string {
  return bytes.toString('base64');
}

/** Base64 of a bag of cells, empty when there is none. */
export function viewBoc(bytes: Buffer | null): string {
  return bytes === null ? '' : bytes.toString('base64');
}
