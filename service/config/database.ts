import type { SecretKey } from '../config.ts';
import { readDurationMs } from './duration.ts';
import type { TonApi } from './manifest.gen.ts';

/** The database of the index. */
export type PostgresConfig = {
  /** Secret with the URI; null when the command line names it, or when the URI has parts. */
  readonly secret: SecretKey | null;
  /** Secret with the URI of a read replica; null: the same database. */
  readonly readOnlySecret: SecretKey | null;
  /** Schema of the tables. */
  readonly schema: string;
  /** Connections of a process to each of the two databases. */
  readonly poolSize: number;
  /** Lag of the read replica, in milliseconds, beyond which the primary is asked. */
  readonly replicaMaxLagMs: number;
};

/** Settings of the indexer, which writes blocks to the database. */
export type IndexerConfig = {
  /** Processes that share the backfill. */
  readonly partitions: number;
  /** First masterchain block of the index. */
  readonly startSeqno: number;
};

/** First seqno by default, because the zero state is no block. */
const FIRST_SEQNO = 1;

/** Defaults of `postgres` in the CRD, for a database that no manifest describes. */
export const ownPostgres: PostgresConfig = {
  secret: null,
  readOnlySecret: null,
  schema: 'ton',
  poolSize: 10,
  replicaMaxLagMs: 30_000,
};

export function postgresOf({ postgres }: TonApi['spec']): PostgresConfig | null {
  if (postgres === undefined) return null;
  const { secretRef = null, readOnlySecretRef = null, schema, poolSize, replicaMaxLag } = postgres;
  const replicaMaxLagMs = readDurationMs(replicaMaxLag);
  return { secret: secretRef, readOnlySecret: readOnlySecretRef, schema, poolSize, replicaMaxLagMs };
}

/** Returns null when nothing is indexed. `startSeqno` of the command line overrides the manifest's. */
export function indexerOf(indexer: TonApi['spec']['indexer'], startSeqno: number | undefined): IndexerConfig | null {
  if (indexer === undefined) return null;
  return { partitions: indexer.partitions, startSeqno: startSeqno ?? indexer.startSeqno ?? FIRST_SEQNO };
}

/** Returns the indexer of a database that no manifest describes. */
export function ownIndexer(startSeqno = FIRST_SEQNO): IndexerConfig {
  return { partitions: 1, startSeqno };
}
