import type { AddressMetadataRow, JettonWalletRow } from '../meaning-tables.ts';
import type { TokenName } from '../token-content.ts';
import { anyKeyAt, keysAt } from './conditions.ts';
import type { StoreReader } from './reader.ts';

/** What is too long is null. */
type TokenWordsRow = Omit<AddressMetadataRow, 'address' | 'type' | 'updated_at' | 'expires_at' | 'extra'> & {
  readonly extra: AddressMetadataRow['extra'] | null;
};

/** A token as contracts say it is, with what is known of it from elsewhere. */
export type TokenRow = TokenName & {
  readonly address: Buffer;
  /** Of an item, else null. */
  readonly index: bigint | null;
  /** What the chain says; null where `metadata` is there. */
  readonly content: Readonly<Record<string, unknown>> | null;
  readonly metadata: TokenWordsRow | null;
  /** Whether `metadata` is older than it should be. */
  readonly is_stale: boolean;
};

export type WalletRow = Pick<JettonWalletRow, 'owner' | 'jetton' | 'balance'> & {
  readonly address: Buffer;
  readonly type: 'jetton_wallets';
};

/**
 * Bytes of one word that is told, and of all that is beside the words: some kilobytes are usual. What came from outside may be of megabytes, and an
 * answer tells of thousands: a longer one is left out.
 */
export const wordBytesMax = 16_384;

/** What is short as it is stored, compressed, is measured in full. */
function short(column: string): string {
  const within = `pg_column_size(m.${column}) <= ${wordBytesMax} AND octet_length(m.${column}::text) <= ${wordBytesMax}`;
  return `'${column}', CASE WHEN ${within} THEN m.${column} END`;
}

const words = ['name', 'description', 'symbol', 'image', 'extra'].map(short).join(', ');

const ofToken = 'index, content, metadata, is_stale';
const ofWallet = 'owner, jetton, balance';

/** Looked up by a list, not joined with one: which of them are of this type no statistics tell. */
function tokensOf(type: TokenName['type'], index: string): string {
  return `SELECT t.address, '${type}' AS type, ${index} AS index, CASE WHEN m.metadata IS NULL THEN t.content END AS content, m.metadata,
      coalesce(m.expires_at <= extract(epoch FROM now()), false) AS is_stale
    FROM ${type} t
    LEFT JOIN LATERAL (SELECT m.expires_at, jsonb_build_object('valid', m.valid, ${words}) AS metadata
      FROM address_metadata m WHERE m.address = t.address AND m.type = '${type}' LIMIT 1) m ON true
    WHERE t.address = ANY(ARRAY(SELECT key FROM keys))`;
}

const sql = `WITH wallets AS MATERIALIZED (SELECT address, ${ofWallet} FROM jetton_wallets WHERE address = ${anyKeyAt('$1')}),
  keys AS MATERIALIZED (SELECT key FROM unnest(${keysAt('$1')}) AS given (key) UNION SELECT jetton FROM wallets),
  tokens AS (${tokensOf('jetton_masters', 'NULL::numeric')}
    UNION ALL ${tokensOf('nft_collections', 'NULL::numeric')}
    UNION ALL ${tokensOf('nft_items', 't.index')})
  SELECT address, type, ${ofToken}, NULL::bytea AS owner, NULL::bytea AS jetton, NULL::numeric AS balance FROM tokens
  UNION ALL SELECT address, 'jetton_wallets', NULL, NULL, NULL, NULL, ${ofWallet} FROM wallets`;

/**
 * What tokens and jetton wallets say, and the masters of those wallets, in no order; an account may be several. Rides the primary keys of all five tables.
 * @param keys of `accountKey`, of accounts that `account_names` calls tokens: each is looked for in four tables
 */
export function readTokens(
  store: StoreReader,
  keys: readonly Uint8Array[],
): Promise<readonly (TokenRow | WalletRow)[]> {
  return store.read(sql, [keys], { statement: 'tokens' });
}
