import {
  bytesOf,
  collectionRow,
  commentBoc,
  insertTokens,
  itemRow,
  jettonBurnRow,
  jettonTransferRow,
  keyOf,
  masterRow,
  metadataRow,
  nftTransferRow,
  rawOf,
  saleRow,
  walletRow,
} from './token-rows.ts';
import { startV3UnderTest, type Query, type V3UnderTest } from './v3-service.ts';

/** The index of the recorded chain with made tokens in it, some of them on its accounts and transactions. */
export type TokenScene = {
  readonly v3: V3UnderTest;
  /** Which a made transfer belongs to. */
  readonly recorded: RecordedTransaction;
  /** Raw address of its account, which a made master is of. */
  readonly account: string;
  /** An answer that is good by the published contract too. @throws Error saying what is wrong with any other */
  readonly get: <T = Readonly<Record<string, unknown>>>(
    operation: string,
    query?: Query,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<T>;
};

export type RecordedTransaction = {
  readonly hash: Buffer;
  readonly lt: bigint;
  readonly utime: number;
  readonly trace_id: Buffer;
  readonly account: Buffer;
};

/** Words of tokens in every state that they can be in. */
export const tokenWords = {
  onChain: masterRow(0, { content: { name: 'On chain', symbol: 'ON', decimals: '6', image: 'https://a/b.png' } }),
  halfOnChain: masterRow(1, { content: { uri: 'https://example.com/1.json', symbol: 'HALF', decimals: '8' } }),
  offChain: masterRow(2, { content: { uri: 'https://example.com/2.json' } }),
  fetched: masterRow(3, { content: { uri: 'https://example.com/3.json' } }),
  failed: masterRow(4, { content: { uri: 'https://example.com/4.json' } }),
  nothing: masterRow(5, { content: { decimals: '9' } }),
};

const telemint = {
  type: 'telemint',
  nft: null,
  nft_owner: null,
  marketplace: null,
  created_at: null,
  details: {},
} as const;

export const commentPayload = commentBoc('order 7');

/** Raw address of a made account. */
export function rawAt(kind: string, at: number): string {
  return rawOf(keyOf(kind, at));
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** What answers show of the state that a made row was read from. */
export function stateAt(kind: string, at: number) {
  return {
    last_transaction_lt: String(1_000_000 + at),
    code_hash: base64(bytesOf(`${kind} code`, 0)),
    data_hash: base64(bytesOf(`${kind} data`, at)),
  };
}

/** Made rows of every kind, one transfer of which is of a transaction that is there. */
function tokenRows(recorded: RecordedTransaction): Parameters<typeof insertTokens>[1] {
  const of = { tx_hash: recorded.hash, tx_lt: recorded.lt, tx_utime: recorded.utime };
  return {
    masters: [
      ...Object.values(tokenWords),
      masterRow(6, { address: recorded.account, admin: null, content: { symbol: 'REAL', name: 'Recorded' } }),
    ],
    wallets: [
      walletRow(0, { balance: 5n, owner: keyOf('owner', 0), jetton: keyOf('master', 0) }),
      walletRow(1, { balance: 0n, owner: keyOf('owner', 0), jetton: keyOf('master', 3), mintless_is_claimed: false }),
      walletRow(2, { balance: 10n ** 30n, owner: keyOf('owner', 1), jetton: keyOf('master', 0), data_hash: null }),
    ],
    collections: [collectionRow(0), collectionRow(1, { owner: null })],
    items: [
      itemRow(0, { owner: keyOf('owner', 0) }),
      itemRow(1, { owner: keyOf('sale', 1), last_trans_lt: 9n }),
      itemRow(2, { owner: keyOf('sale', 2), collection: null }),
      itemRow(3, { owner: null, index: 2n ** 200n, collection: keyOf('collection', 0), init: false }),
    ],
    sales: [
      saleRow(1, { nft_owner: keyOf('owner', 0) }),
      saleRow(2, {
        type: 'getgems_auction',
        nft_owner: keyOf('owner', 1),
        details: { end_flag: false, end_time: 1_800_000_000, last_member: rawAt('owner', 3), min_bid: '1' },
      }),
      saleRow(3, { ...telemint, address: keyOf('item', 3) }),
    ],
    jettonTransfers: [
      jettonTransferRow(0, {
        ...of,
        source: keyOf('owner', 1),
        destination: keyOf('owner', 0),
        forward_payload: commentPayload,
      }),
      jettonTransferRow(1, {
        source: keyOf('owner', 0),
        destination: null,
        forward_payload: null,
        forward_ton_amount: null,
        custom_payload: commentBoc('custom'),
        response_destination: null,
      }),
      jettonTransferRow(2, { tx_aborted: true }),
    ],
    jettonBurns: [jettonBurnRow(0, { tx_aborted: true }), jettonBurnRow(1, { response_destination: 'addr_none' })],
    nftTransfers: [
      nftTransferRow(0, { tx_aborted: true, forward_payload: commentPayload }),
      nftTransferRow(1, { nft_collection: null, new_owner: null, forward_amount: null }),
    ],
    metadata: [
      metadataRow(
        { address: tokenWords.fetched.address, type: 'jetton_masters' },
        {
          name: 'Fetched',
          symbol: 'FET',
          extra: { decimals: '9', custom_payload_api_uri: 'https://example.com/claims' },
        },
      ),
      metadataRow({ address: tokenWords.failed.address, type: 'jetton_masters' }, { valid: false, name: null }),
    ],
  };
}

export async function startTokenScene(testFile: string): Promise<TokenScene> {
  const v3 = await startV3UnderTest(testFile);
  const { store } = v3.index;
  const [row] = await store.read<RecordedTransaction>(
    `SELECT t.hash, t.lt, t.utime, t.trace_id, t.account FROM transactions t JOIN messages m ON m.hash = t.in_msg_hash
     WHERE m.kind = 1 AND t.workchain = 0 ORDER BY t.lt DESC LIMIT 1`,
  );
  const recorded = row!;
  await insertTokens(store, tokenRows(recorded));
  return {
    v3,
    recorded,
    account: rawOf(recorded.account),
    async get(operation, query = {}, headers = {}) {
      const { status, flaws, body } = await v3.get(operation, query, headers);
      if (status !== 200 || flaws.length > 0) {
        throw new Error(`${operation} ${JSON.stringify(query)} is ${status}: ${JSON.stringify(flaws)}`);
      }
      return body as never;
    },
  };
}
