import type { BlockId } from '../decode/block-id.ts';
import { parseBoc } from '../decode/boc.ts';
import { uintKey } from '../decode/hashmap.ts';
import { walkAccountBlocks, walkAccountTransactions } from '../decode/tlb/account-blocks.ts';
import { readBlock } from '../decode/tlb/block.ts';
import { readBlockExtra } from '../decode/tlb/block-extra.ts';
import type { BlockTransactionsAnswer, BlockTransactionsExtAnswer } from './answers.ts';
import { requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openProof, proving, requireField, requireHash } from './proof-cells.ts';

/** The question of `listBlockTransactions` and `listBlockTransactionsExt`, asked with a proof (mode bit 32). */
export type BlockTransactionsExpectation = {
  readonly block: BlockId;
  readonly mode: number;
  readonly count: number;
  /** With mode bit 128: where the listing goes on. */
  readonly after?: { readonly account: Buffer; readonly lt: bigint };
};

/** A transaction of a block by its name. */
export type ProvedTransactionId = { readonly account: Buffer; readonly lt: bigint; readonly hash: Buffer };

/** A stretch of a block's transactions; `incomplete` when the wanted count was reached. */
export type ProvedTransactionIds = { readonly ids: readonly ProvedTransactionId[]; readonly incomplete: boolean };

export type ProvedBlockTransactions = {
  readonly transactions: readonly (ProvedTransactionId & { readonly transaction: ProvedCell })[];
  readonly incomplete: boolean;
};

/** Mode bits (lite server sheet 5.1). */
const [WITH_ACCOUNT, WITH_LT, WITH_HASH, REVERSE, AFTER] = [1, 2, 4, 64, 128] as const;

/** The node lists no more in one answer. */
const TRANSACTIONS_MAX = 256;

/**
 * Checks an answer of `listBlockTransactions`: exactly the transactions that the block has from that place on, none left out
 * (lite server sheet 8.6). Metadata of messages is not proved and not given.
 * @throws ProofError
 */
export function checkBlockTransactions(
  expected: BlockTransactionsExpectation,
  answer: BlockTransactionsAnswer,
): ProvedTransactionIds {
  const subject = 'blockTransactions';
  return proving(subject, () => {
    const proved = readListing(subject, expected, answer);
    requireField(`${subject}.ids`, proved.ids.length, answer.ids.length);
    proved.ids.forEach(({ account, lt, hash }, index) => {
      const given = answer.ids[index]!;
      const { mode } = expected;
      requireField(
        `${subject}.ids account`,
        (mode & WITH_ACCOUNT) === 0 ? undefined : text(account),
        text(given.account),
      );
      requireField(`${subject}.ids lt`, (mode & WITH_LT) === 0 ? undefined : lt, given.lt);
      requireField(`${subject}.ids hash`, (mode & WITH_HASH) === 0 ? undefined : text(hash), text(given.hash));
    });
    return proved;
  });
}

/**
 * As `checkBlockTransactions`, for the answer with the transactions themselves.
 * @throws ProofError
 */
export function checkBlockTransactionsExt(
  expected: BlockTransactionsExpectation,
  answer: BlockTransactionsExtAnswer,
): ProvedBlockTransactions {
  const subject = 'blockTransactionsExt';
  return proving(subject, () => {
    const { ids, incomplete } = readListing(subject, expected, answer);
    const cells = openTransactions(answer.transactions);
    requireField(`${subject}.transactions`, ids.length, cells.length);
    const transactions = ids.map((id, index) => {
      requireHash(`${subject}.transactions`, cells[index]!, id.hash);
      return { ...id, transaction: cells[index]! };
    });
    return { transactions, incomplete };
  });
}

function text(bytes: Buffer | undefined): string | undefined {
  return bytes?.toString('hex');
}

/** No transactions are no bag. */
function openTransactions(bytes: Buffer): readonly ProvedCell[] {
  if (bytes.length === 0) return [];
  const table = parseBoc(bytes, { rootsMax: TRANSACTIONS_MAX });
  return table.roots.map((cell) => ({ table, cell }));
}

function readListing(
  subject: string,
  expected: BlockTransactionsExpectation,
  answer: { readonly id: BlockId; readonly incomplete: boolean; readonly proof: Buffer },
): ProvedTransactionIds {
  requireBlock(subject, expected.block, answer.id);
  const proof = openProof(`${subject}.proof`, answer.proof);
  requireHash(`${subject}.proof`, proof, expected.block.rootHash);
  const listing = walkTransactions(proof, expected);
  requireField(`${subject}.incomplete`, listing.incomplete, answer.incomplete);
  return listing;
}

/** By account, then by lt; ends as soon as there are enough, because the proof shows nothing beyond. */
function walkTransactions({ table, cell }: ProvedCell, expected: BlockTransactionsExpectation): ProvedTransactionIds {
  const countMax = Math.min(expected.count, TRANSACTIONS_MAX);
  const reverse = (expected.mode & REVERSE) !== 0;
  const after = (expected.mode & AFTER) === 0 ? undefined : expected.after;
  const ids: ProvedTransactionId[] = [];
  if (countMax === 0) return { ids, incomplete: true };
  const { accountBlocks } = readBlockExtra(table, readBlock(table, cell).extra);
  const finished = walkAccountBlocks(
    table,
    accountBlocks,
    (accountBlock) => {
      const { account } = accountBlock;
      const goesOn = after !== undefined && after.account.equals(account);
      return walkAccountTransactions(
        accountBlock,
        (lt, transaction) => {
          ids.push({ account, lt, hash: table.hash(transaction, 0) });
          return ids.length < countMax;
        },
        goesOn ? { from: uintKey(after.lt, 64), exclusive: true, reverse } : { reverse },
      );
    },
    after === undefined ? { reverse } : { from: after.account, reverse },
  );
  return { ids, incomplete: !finished };
}
