import type { SecretKey } from '../config.ts';
import type { TonApi } from './manifest.gen.ts';

/** The database of the index. */
export type PostgresConfig = {
  /** Of its URI; null where it is named on the command line alone. */
  readonly secret: SecretKey | null;
  /** Of a replica's, which answers are read from; null: the same database. */
  readonly readOnlySecret: SecretKey | null;
  /** That holds the tables. */
  readonly schema: string;
  /** Connections of a process to each of the two. */
  readonly poolSize: number;
};

/** How blocks get into the database. */
export type IndexerConfig = {
  /** Processes that share the past. */
  readonly partitions: number;
  /** First masterchain block of the index. */
  readonly startSeqno: number;
};

/** The zerostate is no block. */
const firstSeqno = 1;

/** Defaults of `postgres` in the CRD, for a database that no manifest describes. */
export const ownPostgres: PostgresConfig = { secret: null, readOnlySecret: null, schema: 'ton', poolSize: 10 };

export function postgresOf({ postgres }: TonApi['spec']): PostgresConfig | null {
  if (postgres === undefined) return null;
  const { secretRef, readOnlySecretRef = null, schema, poolSize } = postgres;
  return { secret: secretRef, readOnlySecret: readOnlySecretRef, schema, poolSize };
}

/** Null where nothing is indexed; `startSeqno` of the command line wins over the manifest's. */
export function indexerOf(indexer: TonApi['spec']['indexer'], startSeqno: number | undefined): IndexerConfig | null {
  if (indexer === undefined) return null;
  return { partitions: indexer.partitions, startSeqno: startSeqno ?? indexer.startSeqno ?? firstSeqno };
}

/** The indexer of a database that no manifest describes. */
export function ownIndexer(startSeqno = firstSeqno): IndexerConfig {
  return { partitions: 1, startSeqno };
}
