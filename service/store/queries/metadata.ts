import type { AddressMetadataRow, JettonWalletRow } from '../meaning-tables.ts';
import type { TokenName } from '../token-content.ts';
import type { StoreReader } from './reader.ts';

/** A token as contracts say it is, with what is known of it from elsewhere. */
export type TokenRow = TokenName & {
  readonly address: Buffer;
  /** Of an item, else null. */
  readonly index: bigint | null;
  /** What the chain says; null where `metadata` is there. */
  readonly content: Readonly<Record<string, unknown>> | null;
  readonly metadata: Omit<AddressMetadataRow, 'address' | 'type' | 'updated_at' | 'expires_at'> | null;
  /** Whether `metadata` is older than it should be. */
  readonly is_stale: boolean;
};

/** Content of a token that is looked at: what the chain holds is at most nine values of 8 KiB, most of some hundred bytes. */
const metadataJson = `CASE WHEN m.address IS NOT NULL THEN jsonb_build_object('valid', m.valid, 'name', m.name, 'description', m.description,
  'symbol', m.symbol, 'image', m.image, 'extra', m.extra) END`;

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
