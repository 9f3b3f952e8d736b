import type { AddressMetadataRow, JettonWalletRow } from '../classification-tables.ts';
import type { TokenName } from '../token-content.ts';
import { momentColumns, momentOf, type Moment, type MomentRow } from './account-changes.ts';
import { anyKeyAt } from './conditions.ts';
import type { StoreReader } from './reader.ts';

/** Values that are too long are null. */
type TokenWordsRow = Omit<AddressMetadataRow, 'address' | 'type' | 'updated_at' | 'expires_at' | 'extra'> & {
  readonly extra: AddressMetadataRow['extra'] | null;
};

/** A token from its contract, with its metadata from elsewhere. */
export type TokenRow = TokenName & {
  readonly address: Buffer;
  /** Index of an item, else null. */
  readonly index: bigint | null;
  /** Content on the chain; null if `metadata` is present. */
  readonly content: Readonly<Record<string, unknown>> | null;
  readonly metadata: TokenWordsRow | null;
  /** Seconds until `metadata` is stale, below 0 when stale; null without metadata. */
  readonly fresh_seconds: number | null;
};

export type WalletRow = Pick<JettonWalletRow, 'owner' | 'jetton' | 'balance'> & {
  readonly address: Buffer;
  readonly type: 'jetton_wallets';
};

/**
 * Bytes of a returned text, and of all other fields of the metadata; some kilobytes are usual. Content from outside may be megabytes, and
 * an answer has thousands: a longer value is omitted.
 */
export const WORD_BYTES_MAX = 16_384;

/** A value that is short in compressed form is measured in full. */
function short(column: string): string {
  const within = `pg_column_size(m.${column}) <= ${WORD_BYTES_MAX} AND octet_length(m.${column}::text) <= ${WORD_BYTES_MAX}`;
  return `'${column}', CASE WHEN ${within} THEN m.${column} END`;
}

const words = ['name', 'description', 'symbol', 'image', 'extra'].map(short).join(', ');

const ofToken = 'index, content, metadata, fresh_seconds';
const ofWallet = 'owner, jetton, balance';

/** Looked up by a list, not joined: no statistics estimate how many of the accounts have this type. */
function tokensOf(type: TokenName['type'], index: string): string {
  return `SELECT t.address, '${type}' AS type, ${index} AS index, CASE WHEN m.metadata IS NULL THEN t.content END AS content, m.metadata, m.fresh_seconds
    FROM ${type} t
    LEFT JOIN LATERAL (
      SELECT (m.expires_at - extract(epoch FROM now()))::float8 AS fresh_seconds, jsonb_build_object('valid', m.valid, ${words}) AS metadata
      FROM address_metadata m WHERE m.address = t.address AND m.type = '${type}' LIMIT 1) m ON true
    WHERE t.address = ${anyKeyAt('$1')}`;
}

const sql = `WITH tokens AS (${tokensOf('jetton_masters', 'NULL::numeric')}
    UNION ALL ${tokensOf('nft_collections', 'NULL::numeric')}
    UNION ALL ${tokensOf('nft_items', 't.index')})
  SELECT 'moment' AS type, ${momentColumns('$3')}, NULL::bytea AS address, NULL::numeric AS index, NULL::jsonb AS content, NULL::jsonb AS metadata,
    NULL::float8 AS fresh_seconds, NULL::bytea AS owner, NULL::bytea AS jetton, NULL::numeric AS balance
  UNION ALL SELECT type, NULL, NULL, address, ${ofToken}, NULL, NULL, NULL FROM tokens
  UNION ALL SELECT 'jetton_wallets', NULL, NULL, address, NULL, NULL, NULL, NULL, ${ofWallet} FROM jetton_wallets WHERE address = ${anyKeyAt('$1')}
  UNION ALL SELECT 'balance', NULL, NULL, address, NULL, NULL, NULL, NULL, NULL, NULL, balance FROM jetton_wallets WHERE address = ${anyKeyAt('$2')}`;

/** Tokens to read. All are keys of `accountKey`. */
export type TokensAsked = {
  /** Accounts that `account_names` marks as tokens: each is looked up in four tables. */
  readonly accounts: readonly Uint8Array[];
  /** Wallets with all other data cached: only balances are read. */
  readonly balances: readonly Uint8Array[];
  /** A transaction, `settled` of a reading before; undefined: no changes. */
  readonly since: bigint | undefined;
};

export type ReadTokens = Moment & {
  readonly tokens: readonly (TokenRow | WalletRow)[];
  readonly balances: readonly Pick<WalletRow, 'address' | 'balance'>[];
};

type Found = (MomentRow & { readonly type: 'moment' }) | TokenRow | WalletRow | BalanceRow;

type BalanceRow = Pick<WalletRow, 'address' | 'balance'> & { readonly type: 'balance' };

/**
 * Data of tokens and jetton wallets, in no order, from the same snapshot; an account may be several tokens. Uses the primary keys of all
 * five tables and `account_changes_by_xid`.
 */
export async function readTokens(store: StoreReader, { accounts, balances, since }: TokensAsked): Promise<ReadTokens> {
  const rows = await store.read<Found>(sql, [accounts, balances, since?.toString() ?? null], { statement: 'tokens' });
  const of = <T extends Found['type']>(type: T) =>
    rows.filter((row): row is Extract<Found, { readonly type: T }> => row.type === type);
  const [moment] = of('moment');
  return {
    ...momentOf(moment!),
    tokens: rows.filter((row): row is TokenRow | WalletRow => row.type !== 'moment' && row.type !== 'balance'),
    balances: of('balance'),
  };
}
