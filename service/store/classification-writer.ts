import { address, hash, int, lt, type Row, type Table } from './columns.ts';
import { planSpans, type ValiditySpan } from './validity-spans.ts';
import { encodeArray } from './field-encoding.ts';
import { hashKey } from './hash-key.ts';
import { createInserts, insertFrom, type Inserts } from './insert.ts';
import { queueInterpretations, type ClaimedBlocks } from './interpretations.ts';
import {
  actionAccounts,
  actions,
  dnsEntries,
  interfaceFacts,
  jettonBurns,
  jettonMasters,
  jettonTransfers,
  jettonWallets,
  multisigOrders,
  multisigs,
  nftCollections,
  nftItems,
  nftSales,
  nftTransfers,
  traceClassifications,
  vestingContracts,
  type ActionAccountRow,
  type ActionRow,
  type InterfaceFactsRow,
  type JettonBurnRow,
  type JettonTransferRow,
  type NftTransferRow,
  type TraceClassificationRow,
} from './classification-tables.ts';
import type { Session, Store } from './store.ts';

/** Tables of contracts, by kind of contract. */
const contractTables = {
  jettonMaster: jettonMasters,
  jettonWallet: jettonWallets,
  nftCollection: nftCollections,
  nftItem: nftItems,
  dnsEntry: dnsEntries,
  nftSale: nftSales,
  multisig: multisigs,
  multisigOrder: multisigOrders,
  vestingContract: vestingContracts,
} as const;

/** Operations of a wallet that move jettons (TEP-74): `transfer`, `burn`. */
const senderOpcodes = [0x0f8a7ea5, 0x595f07bc];

type ContractKind = keyof typeof contractTables;

/** Rows of an account, by kind of contract. */
export type ContractRows = { readonly [K in ContractKind]?: Row<(typeof contractTables)[K]> };

/** A transaction's place. */
export type TransactionKey = { readonly hash: Uint8Array; readonly lt: bigint };

/** An account that a block changed without a transaction. */
export type EditedContract = {
  readonly account: Uint8Array;
  /** Lt of the change. */
  readonly lt: bigint;
  /** Empty for an account that is no contract of a table. */
  readonly contract: ContractRows;
};

/** A message with jettons that its receiver refused: the action of the sender's transaction depends on it. */
export type RefusedMessage = {
  /** Masterchain block with the refusal. */
  readonly mcSeqno: number;
  readonly source: Uint8Array;
  readonly createdLt: bigint;
};

/** Results of interpreting some masterchain blocks. */
export type Classification = {
  /** Contracts of accounts that changed in the blocks. */
  readonly contracts: readonly ContractRows[];
  /** Contracts of accounts that the blocks changed without a transaction. */
  readonly edited: readonly EditedContract[];
  /** Facts of the accounts of `contracts`. */
  readonly facts: readonly InterfaceFactsRow[];
  /** All transactions that can contain transfers: the lists below have all of their transfers. */
  readonly looked: readonly TransactionKey[];
  readonly jettonTransfers: readonly JettonTransferRow[];
  readonly jettonBurns: readonly JettonBurnRow[];
  readonly nftTransfers: readonly NftTransferRow[];
  readonly refused: readonly RefusedMessage[];
  /** Complete traces that end in the blocks, each once. */
  readonly traces: readonly TraceClassificationRow[];
  readonly actions: readonly ActionRow[];
  readonly actionAccounts: readonly ActionAccountRow[];
};

/**
 * Writes the results of claimed blocks, all or none. Replaces earlier results of the same blocks: writing twice changes nothing.
 *
 * @throws StoreError, `claim_lost` among them
 */
export async function writeClassification(
  store: Store,
  claimed: ClaimedBlocks,
  meaning: Classification,
): Promise<void> {
  await store.transaction(
    async (session) => {
      // Until the transaction ends no other writer writes results: spans of facts are merged with stored spans.
      await session.query(`SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.interpretations', 0))`);
      await claimed.finish(session);
      const inserts = createInserts(session, 'unnest');
      for (const kind of Object.keys(contractTables) as ContractKind[]) {
        const rows = meaning.contracts.flatMap((contract) => contract[kind] ?? []);
        await mergeContracts(inserts, contractTables[kind], rows);
      }
      await replaceEdited(session, inserts, meaning.edited);
      await mergeFacts(session, inserts, meaning.facts);
      await replaceTransfers(session, inserts, meaning);
      await queueSenders(session, claimed, meaning.refused);
      // Actions are by far the most rows. No other writer writes them at the same time, so their order is free.
      await replaceActions(session, createInserts(session, 'copy'), meaning);
    },
    // A crash of Postgres that loses the rows also loses the end of the claim: the work is repeated then.
    { durable: false },
  );
}

/**
 * The newest state of each contract wins, including states of changes without a transaction. An older version may have examined the same
 * state.
 */
async function mergeContracts<T extends Table>(
  inserts: Inserts,
  table: T,
  rows: readonly (Row<T> & { readonly last_trans_lt: bigint })[],
): Promise<void> {
  await upsertContracts(inserts, table, rows, {
    given: ` WHERE NOT EXISTS (SELECT FROM account_edits e WHERE e.account = given.${table.key[0]!} AND e.lt > given.last_trans_lt)`,
    stored: 'excluded.last_trans_lt >= stored.last_trans_lt',
  });
}

/**
 * Contracts after changes without a transaction. Such a change deletes rows of kinds that the account no longer has. No transaction shows
 * that it ever had the kind.
 */
async function replaceEdited(session: Session, inserts: Inserts, edited: readonly EditedContract[]): Promise<void> {
  if (edited.length === 0) return;
  const places = [
    encodeArray(
      address,
      edited.map(({ account }) => account),
    ),
    encodeArray(
      lt,
      edited.map((one) => one.lt),
    ),
  ];
  const given = 'unnest($1::bytea[], $2::bigint[]) AS given (account, lt)';
  const newest = await session.query<{ account: Uint8Array; lt: bigint }>(
    `SELECT * FROM ${given} WHERE NOT EXISTS (SELECT FROM account_edits e WHERE e.account = given.account AND e.lt > given.lt)`,
    places,
  );
  const current = new Set(newest.map((row) => `${row.lt} ${hashKey(row.account)}`));
  const last = edited.filter((one) => current.has(`${one.lt} ${hashKey(one.account)}`));
  for (const kind of Object.keys(contractTables) as ContractKind[]) {
    const table: Table = contractTables[kind];
    const key = table.key[0]!;
    const gone = last.filter(({ contract }) => contract[kind] === undefined);
    await session.query(
      `DELETE FROM ${table.name} AS stored USING ${given} WHERE stored.${key} = given.account AND stored.last_trans_lt <= given.lt`,
      [
        encodeArray(
          address,
          gone.map(({ account }) => account),
        ),
        encodeArray(
          lt,
          gone.map((one) => one.lt),
        ),
      ],
    );
    const rows = last.flatMap(({ contract }) => contract[kind] ?? []);
    await upsertContracts(inserts, contractTables[kind], rows, {
      given: '',
      stored: `excluded.last_trans_lt >= stored.last_trans_lt
        OR EXISTS (SELECT FROM account_edits e WHERE e.account = stored.${key} AND e.lt >= stored.last_trans_lt)`,
    });
  }
}

/** @param conditions of a given row, as SQL after it, and of a stored row to replace */
async function upsertContracts<T extends Table>(
  inserts: Inserts,
  table: T,
  rows: readonly (Row<T> & { readonly last_trans_lt: bigint })[],
  conditions: { readonly given: string; readonly stored: string },
): Promise<void> {
  const key = table.key[0]!;
  const newest = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const name = hashKey((row as Readonly<Record<string, Uint8Array>>)[key]!);
    const other = newest.get(name);
    if (other === undefined || row.last_trans_lt >= other.last_trans_lt) newest.set(name, row);
  }
  const sets = Object.keys(table.columns)
    .filter((column) => column !== key)
    .map((column) => `${column} = excluded.${column}`);
  await inserts.run(
    table,
    [...newest.values()],
    (given) =>
      `${insertFrom(table, `${given}${conditions.given}`)} ON CONFLICT (${key}) DO UPDATE SET ${sets.join(', ')}
       WHERE ${conditions.stored}`,
  );
}

/** Stored spans that a seen span may overlap or meet. A seen span is from a single block, and so are the ends of all others. */
const NEIGHBOURS_MAX = 3;

async function mergeFacts(session: Session, inserts: Inserts, seen: readonly InterfaceFactsRow[]): Promise<void> {
  if (seen.length === 0) return;
  const stored = await session.query<InterfaceFactsRow>(
    `SELECT DISTINCT stored.* FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS given (account, after_lt, until_lt)
     CROSS JOIN LATERAL (
       SELECT * FROM interface_facts f WHERE f.account = given.account AND f.after_lt <= given.until_lt
       ORDER BY f.after_lt DESC LIMIT ${NEIGHBOURS_MAX}) AS stored
     WHERE stored.until_lt >= given.after_lt`,
    [
      encodeArray(address, accountsOf(seen)),
      encodeArray(
        lt,
        seen.map((row) => row.after_lt),
      ),
      encodeArray(
        lt,
        seen.map((row) => row.until_lt),
      ),
    ],
  );
  const storedOf = Map.groupBy(stored, ({ account }) => hashKey(account));
  const removed: Pick<InterfaceFactsRow, 'account' | 'after_lt'>[] = [];
  const added: InterfaceFactsRow[] = [];
  for (const [name, rows] of Map.groupBy(seen, ({ account }) => hashKey(account))) {
    const { account } = rows[0]!;
    const changes = planSpans((storedOf.get(name) ?? []).map(spanOf), rows.map(spanOf));
    removed.push(...changes.removed.map((after_lt) => ({ account, after_lt })));
    added.push(...changes.added.map((span) => ({ account, ...span })));
  }
  if (removed.length > 0) {
    await session.query(
      `DELETE FROM interface_facts AS stored USING unnest($1::bytea[], $2::bigint[]) AS given (account, after_lt)
       WHERE stored.account = given.account AND stored.after_lt = given.after_lt`,
      [
        encodeArray(address, accountsOf(removed)),
        encodeArray(
          lt,
          removed.map((row) => row.after_lt),
        ),
      ],
    );
  }
  await inserts.add(interfaceFacts, added);
}

function spanOf({ after_lt, until_lt, facts, version }: InterfaceFactsRow): ValiditySpan {
  return { after_lt, until_lt, facts, version };
}

function accountsOf(rows: readonly { readonly account: Uint8Array }[]): readonly Uint8Array[] {
  return rows.map(({ account }) => account);
}

async function replaceTransfers(session: Session, inserts: Inserts, meaning: Classification): Promise<void> {
  const { looked } = meaning;
  if (looked.length === 0) return;
  const keys = [
    encodeArray(
      hash,
      looked.map((one) => one.hash),
    ),
    encodeArray(
      lt,
      looked.map((one) => one.lt),
    ),
  ];
  for (const { name } of [jettonTransfers, jettonBurns, nftTransfers]) {
    await session.query(
      `DELETE FROM ${name} AS stored USING unnest($1::bytea[], $2::bigint[]) AS given (hash, lt)
       WHERE stored.tx_hash = given.hash AND stored.tx_lt = given.lt`,
      keys,
    );
  }
  await inserts.add(jettonTransfers, meaning.jettonTransfers);
  await inserts.add(jettonBurns, meaning.jettonBurns);
  await inserts.add(nftTransfers, meaning.nftTransfers);
}

/**
 * Queues the masterchain blocks again whose transfers and burns a later block refused, if their results change. Such blocks have a row that
 * is not returned yet, or a worker reads them now. Refusals of a block are final, so a block that is interpreted again queues nothing.
 * Otherwise contracts that refuse each other's messages could have all of their blocks interpreted again with each new block.
 */
async function queueSenders(
  session: Session,
  { seqnos, fresh }: Pick<ClaimedBlocks, 'seqnos' | 'fresh'>,
  all: readonly RefusedMessage[],
): Promise<void> {
  const refused = all.filter(({ mcSeqno }) => fresh.has(mcSeqno));
  if (refused.length === 0) return;
  const delivered = [jettonTransfers, jettonBurns].map(
    ({ name }) =>
      `EXISTS (SELECT FROM ${name} r WHERE r.tx_hash = sender.hash AND r.tx_lt = sender.lt AND NOT r.returned)`,
  );
  const read =
    'EXISTS (SELECT FROM interpretations i WHERE i.mc_seqno = sender.mc_seqno AND i.todo AND i.claimed_until IS NOT NULL)';
  const found = await session.query<{ mc_seqno: number }>(
    `SELECT DISTINCT sender.mc_seqno FROM unnest($1::bytea[], $2::bigint[]) AS given (account, lt)
     CROSS JOIN LATERAL (
       SELECT * FROM transactions t WHERE t.account = given.account AND t.lt < given.lt ORDER BY t.lt DESC LIMIT 1) AS sender
     WHERE sender.mc_seqno <> ALL ($3::integer[]) AND sender.in_opcode = ANY ($4::integer[])
       AND (${[...delivered, read].join(' OR ')})`,
    [
      encodeArray(
        address,
        refused.map(({ source }) => source),
      ),
      encodeArray(
        lt,
        refused.map(({ createdLt }) => createdLt),
      ),
      encodeArray(int, seqnos),
      encodeArray(int, senderOpcodes),
    ],
  );
  await queueInterpretations(
    session,
    found.map(({ mc_seqno }) => mc_seqno),
  );
}

async function replaceActions(session: Session, inserts: Inserts, meaning: Classification): Promise<void> {
  const { traces } = meaning;
  if (traces.length === 0) return;
  const ids = encodeIds(traces);
  // Only a trace that was classified before has actions, and most traces were not.
  const known = await session.query<Pick<TraceClassificationRow, 'trace_id'>>(
    `DELETE FROM ${traceClassifications.name} WHERE trace_id = ANY ($1::bytea[]) RETURNING trace_id`,
    [ids],
  );
  if (known.length > 0) {
    for (const { name } of [actionAccounts, actions]) {
      await session.query(`DELETE FROM ${name} WHERE trace_id = ANY ($1::bytea[])`, [encodeIds(known)]);
    }
  }
  await inserts.add(traceClassifications, traces);
  await inserts.add(actions, meaning.actions);
  await inserts.add(actionAccounts, meaning.actionAccounts);
}

function encodeIds(traces: readonly Pick<TraceClassificationRow, 'trace_id'>[]): Buffer {
  return encodeArray(
    hash,
    traces.map(({ trace_id }) => trace_id),
  );
}
