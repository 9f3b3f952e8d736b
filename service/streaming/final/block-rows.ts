import { hashKey } from '#service/store/hash-key.ts';
import type { ActionRow } from '#service/store/classification-tables.ts';
import {
  countTransactionsUntil,
  findAllActionsOfTraces,
  findBlockState,
  findEditsOfBlock,
  findTracesOpenFrom,
  findTransactionsBefore,
  findTransactionsOfBlock,
  findWalletsAfter,
  readTraces,
  type FoundEdit,
  type FoundWallet,
} from '#service/store/queries/final-blocks.ts';
import { distinctKeys } from '#service/store/queries/conditions.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import { needsCount, planTraces, type OpenBounds, type PlannedTrace } from './trace-plan.ts';

/** Rows of the changes of one masterchain block, as of one moment. */
export type BlockRows = {
  readonly mcSeqno: number;
  /** False: no interpreter could read the block yet, so that actions and jetton wallets may be missing. */
  readonly isClassified: boolean;
  /** Transactions of the block, by lt and account. */
  readonly transactions: readonly FoundTransaction[];
  readonly traces: readonly PlannedTrace[];
  /** Transactions of the traces in earlier blocks, by lt and account. */
  readonly earlier: readonly FoundTransaction[];
  /** Traces whose earlier transactions are left out, because they take too many bytes; keys of `hashKey`. */
  readonly cut: ReadonlySet<string>;
  readonly actions: readonly ActionRow[];
  readonly edits: readonly FoundEdit[];
  readonly wallets: readonly FoundWallet[];
};

/** Transactions of earlier blocks that one query reads, unless a single trace has more. */
const EARLIER_AT_ONCE = 500;

/** Bytes of earlier transactions in the changes of a block. */
const EARLIER_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Reads a block, with one query for each kind of row. A block that is to be classified again has its former rows until then.
 * @returns undefined for a block that is not indexed
 */
export async function readBlock(
  reader: StoreReader,
  mcSeqno: number,
  bounds: OpenBounds,
): Promise<BlockRows | undefined> {
  const { block } = await findBlockState(reader, mcSeqno);
  if (block === undefined) return undefined;
  const transactions = await findTransactionsOfBlock(reader, mcSeqno);
  const begun = await readTraces(reader, distinctKeys(transactions.map(({ trace_id: id }) => id)));
  const due = await findTracesOpenFrom(reader, { root: mcSeqno - bounds.blocks - 1, open: mcSeqno });
  const found = [...new Map([...due, ...begun].map((row) => [hashKey(row.trace_id), row])).values()];
  const counted = found.filter((row) => needsCount(row, mcSeqno, bounds));
  const counts = await countTransactionsUntil(reader, counted, mcSeqno);
  const traces = planTraces({ mcSeqno, transactions, traces: found, counts }, bounds);
  const { earlier, cut } = await readEarlier(reader, traces, mcSeqno);
  const ended = traces.filter(({ stage }) => stage === undefined || stage === 'last');
  const actions = await findAllActionsOfTraces(
    reader,
    ended.map(({ row }) => row.trace_id),
  );
  const edits = await findEditsOfBlock(reader, mcSeqno);
  const wallets = await findWalletsAfter(reader, lastOfAccounts(transactions));
  return { mcSeqno, isClassified: block.known, transactions, traces, earlier, cut, actions, edits, wallets };
}

/** The last transaction of each account, in the order of the transactions. */
export function lastOfAccounts(transactions: readonly FoundTransaction[]): readonly FoundTransaction[] {
  const last = new Map(transactions.map((one) => [hashKey(one.account), one]));
  return transactions.filter((one) => last.get(hashKey(one.account)) === one);
}

async function readEarlier(
  reader: StoreReader,
  traces: readonly PlannedTrace[],
  mcSeqno: number,
): Promise<Pick<BlockRows, 'earlier' | 'cut'>> {
  const earlier: FoundTransaction[] = [];
  const cut = new Set<string>();
  let bytesLeft = EARLIER_BYTES_MAX;
  for (const part of partsOf(traces.filter((one) => one.earlier > 0))) {
    const rows = part.map(({ row }) => row);
    const found = bytesLeft > 0 ? await findTransactionsBefore(reader, rows, mcSeqno) : [];
    const bytes = found.reduce((sum, { boc }) => sum + boc.length, 0);
    if (bytes > bytesLeft || bytesLeft <= 0) for (const { trace_id: id } of rows) cut.add(hashKey(id));
    else earlier.push(...found);
    bytesLeft -= bytes;
  }
  return { earlier, cut };
}

/** Cuts traces into parts up to the bound, with at least one trace. */
function partsOf(traces: readonly PlannedTrace[]): readonly (readonly PlannedTrace[])[] {
  const parts: PlannedTrace[][] = [];
  let left = 0;
  for (const one of traces) {
    if (one.earlier > left) {
      parts.push([]);
      left = EARLIER_AT_ONCE;
    }
    parts.at(-1)!.push(one);
    left -= one.earlier;
  }
  return parts;
}
