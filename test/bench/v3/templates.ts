import { parseAddress } from '#service/decode/address.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { SourceBlocks } from '#service/indexer/source.ts';
import type { Store } from '#service/store/store.ts';
import { openMainnetBlocks } from '#test/bench/indexing/local-source.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';

/** Bags of mainnet's transactions stand for all; recorded ones where those are missing. What they name is known, as in an index: states, accounts, codes. @param codeOf hash of one of the codes, by an expression */
export async function loadTemplates(store: Store, codes: number, codeOf: (n: string) => string): Promise<void> {
  const bocs = (await mainnetTransactions()) ?? (await recordedTransactions());
  const named = bocs.map(namesIn);
  await store.transaction(async ({ query }) => {
    await query('CREATE TABLE templates (place integer PRIMARY KEY, boc bytea NOT NULL)');
    await query(
      'INSERT INTO templates SELECT place - 1, boc FROM unnest($1::bytea[]) WITH ORDINALITY AS given (boc, place)',
      [bocs],
    );
    await query(`CREATE FUNCTION template_count() RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT ${bocs.length}'`);
    await query(
      `INSERT INTO account_states (hash, balance, status, data_hash, code_hash)
       SELECT DISTINCT ON (hash) hash, 1234567890, 2, sha256(hash), ${codeOf('n')} FROM unnest($1::bytea[]) WITH ORDINALITY AS given (hash, n)`,
      [named.flatMap(({ states }) => states)],
    );
    await query(
      `INSERT INTO latest_account_states (account, hash, balance, status, utime, last_trans_hash, last_trans_lt, data_hash, code_hash)
       SELECT DISTINCT ON (account) account, sha256(account), 1234567890, 2, 1750000000, sha256(account), 40000000000000, sha256(account), ${codeOf('n')}
       FROM unnest($1::bytea[]) WITH ORDINALITY AS given (account, n)`,
      [named.flatMap(({ accounts }) => accounts)],
    );
    await query(
      `INSERT INTO codes (code_hash, boc, methods) SELECT ${codeOf('n')}, '', ARRAY[78748, 81467, 85143, n, n + 1000, n + 2000]::integer[]
       FROM generate_series(0, ${codes - 1}) AS n`,
    );
  });
}

/** States that a transaction names, and its account with those of its messages. */
function namesIn(boc: Uint8Array): { readonly states: readonly Buffer[]; readonly accounts: readonly Buffer[] } {
  const table = parseBoc(boc);
  const { account, stateUpdate, inMessage, outMessages } = readTransaction(table, table.roots[0]!);
  const others = [inMessage, ...outMessages].flatMap((message) => {
    if (message?.info.kind !== 'internal') return [];
    return [message.info.source, message.info.destination].flatMap((end) => parseAddress(addressText(end)) ?? []);
  });
  return {
    states: [stateUpdate.oldHash, stateUpdate.newHash],
    accounts: [{ workchain: 0, id: account }, ...others].map(accountKey),
  };
}

/** Some 2,000 of 18 masterchain blocks, with two messages in the middle and 255 at most. */
async function mainnetTransactions(): Promise<readonly Uint8Array[] | undefined> {
  const source = await openMainnetBlocks();
  if (source === undefined) return undefined;
  const { signal } = new AbortController();
  const groups = await Promise.all(
    Array.from({ length: source.length }, (_, at) => source.source.read(at + 1, signal)),
  );
  return groups.flatMap(bagsOf);
}

async function recordedTransactions(): Promise<readonly Uint8Array[]> {
  return (await recordedBlocks()).slice(300, 700).flatMap(bagsOf);
}

function bagsOf(group: SourceBlocks): readonly Uint8Array[] {
  return rowsOf(group)
    .transactions.filter((row) => row.workchain === 0)
    .map(({ boc }) => boc);
}
