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

/** Request of `listBlockTransactions` or `listBlockTransactionsExt` with a proof (mode bit 32). */
export type BlockTransactionsExpectation = {
  readonly block: BlockId;
  readonly mode: number;
  readonly count: number;
  /** Position after which the listing continues, with mode bit 128. */
  readonly after?: { readonly account: Buffer; readonly lt: bigint };
};

/** Identification of a transaction in a block. */
export type ProvedTransactionId = { readonly account: Buffer; readonly lt: bigint; readonly hash: Buffer };

/** Range of a block's transactions; `incomplete` when the wanted count was reached. */
export type ProvedTransactionIds = { readonly ids: readonly ProvedTransactionId[]; readonly incomplete: boolean };

export type ProvedBlockTransactions = {
  readonly transactions: readonly (ProvedTransactionId & { readonly transaction: ProvedCell })[];
  readonly incomplete: boolean;
};

/** Mode bits (service/liteserver/README.md#mode-bits). */
const [WITH_ACCOUNT, WITH_LT, WITH_HASH, REVERSE, AFTER] = [1, 2, 4, 64, 128] as const;

/** Most transactions that the node lists in one answer. */
const TRANSACTIONS_MAX = 256;

/**
 * Checks an answer of `listBlockTransactions`: exactly the transactions of the block from that position on, without gaps
 * (service/proof/README.md#transactions). Metadata of messages are not proved and not returned.
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
 * Checks an answer like `checkBlockTransactions`, with the transactions themselves.
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

/** Opens a bag of transactions; no transactions are no bag. */
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

/** Yields transactions by account, then by lt. Ends at the wanted count, because the proof shows nothing beyond. */
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
