import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';

/** A public library by the hash that code refers to it by. */
export type LiveLibrary = {
  /** 32 bytes. */
  readonly hash: Buffer;
  /** BoC as a node writes it (one root, no CRC32C); its root has the hash. */
  readonly data: Buffer;
};

/** Reads of the blockchain's configuration and public libraries, proved. Errors: PoolError, ProofError, LiteServerError. */
export type LiveConfiguration = {
  /**
   * A parameter as BoC (one root, CRC32C); null when it is not set.
   * @param seqno masterchain seqno to read at; the served head when absent
   */
  readParam(param: number, seqno: number | undefined, context: ReadContext): Promise<LiveAnswer<Buffer | null>>;
  /** The root of the dictionary of parameters as BoC (one root, CRC32C). */
  readAll(seqno: number | undefined, context: ReadContext): Promise<LiveAnswer<Buffer>>;
  /**
   * Libraries among the hashes that exist as of the served head, by hash, without duplicates.
   * Throws LiveError `too_many_libraries` for more than 16 hashes.
   */
  readLibraries(hashes: readonly Buffer[], context: ReadContext): Promise<LiveAnswer<readonly LiveLibrary[]>>;
};
