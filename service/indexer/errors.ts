import { TonplaneError } from '../error.ts';

/**
 * - `block_missing`: the archive packages have no such block
 * - `package_damaged`: a file is no archive package, or ends or breaks in the middle of an entry
 * - `archive_unusable`: the folder of archive packages cannot be read, or holds more loose entries than fit into memory
 * - `chain_broken`: the way back from a masterchain block's shards does not meet the shards of the one before
 * - `wrong_block`: a block in the rows or in a file is not the one that its id names
 * - `rows_failed`: a block is none that rows can be made of, or the thread that made them ended
 * - `lease_lost`: another process follows the head now
 */
export type IndexerErrorCode =
  | 'block_missing'
  | 'package_damaged'
  | 'archive_unusable'
  | 'chain_broken'
  | 'wrong_block'
  | 'rows_failed'
  | 'lease_lost';

/** Where it happened: a block's short text, a file and the byte offset in it, and the bound that was met. */
export type IndexerErrorData = {
  readonly block?: string;
  readonly file?: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly found?: number | string;
};

/** Errors of the indexer's own; those of lite servers, proofs and Postgres pass through as they are. */
export class IndexerError extends TonplaneError<IndexerErrorCode, IndexerErrorData> {
  constructor(code: IndexerErrorCode, message: string, data: IndexerErrorData = {}, cause?: unknown) {
    super({ code, message, data, retryable: true, cause });
  }
}
