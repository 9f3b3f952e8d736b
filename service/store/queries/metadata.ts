import type { AddressMetadataRow, JettonWalletRow } from '../meaning-tables.ts';
import type { TokenName } from '../token-content.ts';
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

const metadataJson = `CASE WHEN m.address IS NOT NULL THEN jsonb_build_object('valid', m.valid, ${['name', 'description', 'symbol', 'image', 'extra'].map(short).join(', ')}) END`;

function tokensOf(type: TokenName['type'], index: string): string {
  return `SELECT t.address, '${type}' AS type, ${index} AS index, CASE WHEN m.address IS NULL THEN t.content END AS content,
      ${metadataJson} AS metadata, coalesce(m.expires_at <= extract(epoch FROM now()), false) AS is_stale
    FROM ${type} t LEFT JOIN address_metadata m ON m.address = t.address AND m.type = '${type}'
    WHERE t.address = ANY($1::bytea[])`;
}

/** The tokens among some accounts, in no order; an account may be several. Rides the primary keys of all four tables. @param keys of `accountKey` */
export function readTokens(store: StoreReader, keys: readonly Uint8Array[]): Promise<readonly TokenRow[]> {
  const parts = [
    tokensOf('jetton_masters', 'NULL::numeric'),
    tokensOf('nft_collections', 'NULL::numeric'),
    tokensOf('nft_items', 't.index'),
  ];
  return store.read(parts.join(' UNION ALL '), [keys]);
}

export type WalletRow = Pick<JettonWalletRow, 'owner' | 'jetton' | 'balance'> & { readonly address: Buffer };

/** The jetton wallets among some accounts, in no order. Rides the primary key. @param keys as of `readTokens` */
export function readJettonWallets(store: StoreReader, keys: readonly Uint8Array[]): Promise<readonly WalletRow[]> {
  return store.read('SELECT address, owner, jetton, balance FROM jetton_wallets WHERE address = ANY($1::bytea[])', [
    keys,
  ]);
}
