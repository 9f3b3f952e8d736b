import { TonplaneError } from '../error.ts';

/**
 * - `block_missing`: the archive packages have no such block
 * - `package_damaged`: a file is no archive package, or ends or breaks in the middle of an entry
 * - `archive_unusable`: the folder of archive packages cannot be read, or has more loose entries than fit into memory
 * - `chain_broken`: the way back from a masterchain block's shards does not meet the shards of the block before
 * - `other_chain`: the newest indexed block is not of the network's chain, or the network has not reached it
 * - `wrong_block`: a block in the rows or in a file differs from its id
 * - `rows_failed`: a block cannot be made into rows, or the worker thread ended
 * - `lease_lost`: another process follows the head now
 */
export type IndexerErrorCode =
  | 'block_missing'
  | 'package_damaged'
  | 'archive_unusable'
  | 'chain_broken'
  | 'other_chain'
  | 'wrong_block'
  | 'rows_failed'
  | 'lease_lost';

/** Place of the error: a block's short text, a file and its byte offset, and the bound that was met. */
export type IndexerErrorData = {
  readonly block?: string;
  readonly file?: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly found?: number | string;
};

/** Errors of the indexer itself. Errors of lite servers, proofs and Postgres pass through unchanged. */
export class IndexerError extends TonplaneError<IndexerErrorCode, IndexerErrorData> {
  constructor(code: IndexerErrorCode, message: string, data: IndexerErrorData = {}, cause?: unknown) {
    super({ code, message, data, retryable: true, cause });
  }
}
