/** Storage of a column, and its JavaScript value. */
export type ColumnKind<T> = {
  /** Postgres type. */
  readonly sql: string;
  readonly nullable: boolean;
  /** Never set: exists for its type. */
  readonly value?: T;
};

/** Columns of a table in order; row types are inferred from it. */
export type Columns = Readonly<Record<string, ColumnKind<unknown>>>;

/** A table: migrations create it, writers fill it, queries read it. */
export type Table<C extends Columns = Columns> = {
  readonly name: string;
  readonly columns: C;
  /** Columns of the primary key. */
  readonly key: readonly string[];
};

/** A row of a table. */
export type Row<T> =
  T extends Table<infer C> ? { readonly [K in keyof C]: C[K] extends ColumnKind<infer V> ? V : never } : never;

/** Closes a table over its columns. */
export function defineTable<const C extends Columns>(
  name: string,
  key: readonly (keyof C & string)[],
  columns: C,
): Table<C> {
  return { name, key, columns };
}

function kind<T>(sql: string): ColumnKind<T> {
  return { sql, nullable: false };
}

/** The same column, with null as a value. */
export function nullable<T>(column: ColumnKind<T>): ColumnKind<T | null> {
  return { sql: column.sql, nullable: true };
}

/** 32 bytes. */
export const hash = kind<Uint8Array>('bytea');
/** 33 bytes: the workchain plus 128, so that -1 sorts before 0, then the account id. */
export const address = kind<Uint8Array>('bytea');
/** Any bytes, such as a BoC. */
export const bytes = kind<Uint8Array>('bytea');
/** Unsigned below 2^63. */
export const lt = kind<bigint>('bigint');
/** A shard's 64 bits, read as signed. */
export const shardId = kind<bigint>('bigint');
/** Nanotons or other amounts, of up to 120 bits. */
export const amount = kind<bigint>('numeric');
/** Signed, 32 bits; unsigned fields of 32 bits that may pass 2^31 are stored as their signed view. */
export const int = kind<number>('integer');
export const small = kind<number>('smallint');
export const bool = kind<boolean>('boolean');
export const text = kind<string>('text');

export const ints = kind<readonly number[]>('integer[]');
/** Extra currencies: id -> amount in decimal digits. */
export const extraCurrencies = kind<Readonly<Record<string, string>>>('jsonb');
export const addresses = kind<readonly Uint8Array[]>('bytea[]');
export const hashes = kind<readonly Uint8Array[]>('bytea[]');
export const texts = kind<readonly string[]>('text[]');
/** Any JSON; numbers beyond 53 bits are decimal text in it. */
export const json = kind<Readonly<Record<string, unknown>>>('jsonb');
