import { hashKey } from '#service/store/hash-key.ts';
import type { FoundEdit, FoundWallet } from '#service/store/queries/final-blocks.ts';
import { viewAccountKey, viewBytes, viewBytesOrNull } from '#service/v3/request/scalars.ts';
import { viewTail, type StatesByHash, type TransactionTail } from '#service/v3/views/transaction-views.ts';
import type { JettonChange, StateChange } from '../changes.ts';
import { lastOfAccounts, type BlockRows } from './block-rows.ts';
import type { OpenedTransaction } from './opened-transaction.ts';

type Placed<T> = Omit<T, 'position'>;

/** New states of the accounts that a block changed: by their last transaction, then those without one. */
export function viewStateChanges(
  { transactions, edits }: Pick<BlockRows, 'transactions' | 'edits'>,
  opened: ReadonlyMap<string, OpenedTransaction>,
  states: StatesByHash,
): readonly Placed<StateChange>[] {
  const last = lastOfAccounts(transactions);
  const editOf = new Map(edits.map((edit) => [hashKey(edit.account), edit]));
  const byTransactions = last.flatMap((row): Placed<StateChange>[] => {
    const one = opened.get(hashKey(row.hash));
    const edit = editOf.get(hashKey(row.account));
    if (one === undefined || (edit !== undefined && edit.lt > row.lt)) return [];
    const place = { last_transaction_lt: row.lt.toString(), last_transaction_hash: viewBytes(row.hash) };
    return [viewState(one.account, viewTail(one.tail, states), place)];
  });
  const ltOf = new Map(last.map((row) => [hashKey(row.account), row.lt]));
  const byEdits = [...editOf.values()]
    .filter(({ account, lt }) => lt > (ltOf.get(hashKey(account)) ?? -1n))
    .map((edit) => viewEdit(edit, states));
  return [...byTransactions, ...byEdits];
}

function viewEdit(edit: FoundEdit, states: StatesByHash): Placed<StateChange> {
  const { account, hash, last_trans_lt: lt, last_trans_hash: transaction } = edit;
  const tail: TransactionTail = {
    stateUpdate: { oldHash: hash, newHash: hash },
    originalStatus: 'nonexist',
    endStatus: 'nonexist',
    emulated: false,
    finality: 'finalized',
  };
  const place = { last_transaction_lt: lt?.toString() ?? null, last_transaction_hash: viewBytesOrNull(transaction) };
  return viewState(viewAccountKey(account), viewTail(tail, states), place);
}

function viewState(
  account: string,
  { account_state_after: state }: ReturnType<typeof viewTail>,
  place: { readonly last_transaction_lt: string | null; readonly last_transaction_hash: string | null },
): Placed<StateChange> {
  return { kind: 'state', account, finality: 'finalized', state: { ...state, ...place } };
}

/** New state of a jetton wallet. A block of the past shows the newest indexed state: `last_transaction_lt` says which. */
export function viewJettonChange(wallet: FoundWallet): Placed<JettonChange> {
  const [address, owner, jetton] = [wallet.address, wallet.owner, wallet.jetton].map(viewAccountKey) as [
    string,
    string,
    string,
  ];
  return {
    kind: 'jetton',
    accounts: [...new Set([address, owner])],
    finality: 'finalized',
    jetton: {
      address,
      balance: wallet.balance.toString(),
      owner,
      jetton,
      last_transaction_lt: wallet.last_trans_lt.toString(),
      code_hash: viewBytesOrNull(wallet.code_hash),
      data_hash: viewBytesOrNull(wallet.data_hash),
    },
    named: [...new Set([address, owner, jetton])],
  };
}
