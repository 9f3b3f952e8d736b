import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tokenAccounts } from '#service/store/migrations/0009-token-accounts.ts';
import { readTokens } from '#service/store/queries/metadata.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createTokenStore, drawTokens, insertTokens, itemRow, keyOf, walletRow } from '#test/support/token-rows.ts';

const rows = drawTokens(20_261_126);
const { masters, wallets, collections, items } = rows;
let made: StoreUnderTest;

beforeAll(async () => {
  made = await createTokenStore(import.meta.filename, rows);
});
afterAll(() => made.close());

const nameOf = (type: string, address: Uint8Array): string => `${type} ${Buffer.from(address).toString('hex')}`;

/** Types and addresses of the tokens among some accounts, sorted. */
async function tokensAmong(accounts: readonly Uint8Array[]): Promise<readonly string[]> {
  const { tokens } = await readTokens(made.store, { accounts, balances: [], since: undefined });
  return tokens.map(({ type, address }) => nameOf(type, address)).toSorted();
}

const all = [
  ...masters.map(({ address }) => nameOf('jetton_masters', address)),
  ...wallets.map(({ address }) => nameOf('jetton_wallets', address)),
  ...collections.map(({ address }) => nameOf('nft_collections', address)),
  ...items.map(({ address }) => nameOf('nft_items', address)),
].toSorted();
const addresses = [masters, wallets, collections, items].flat().map(({ address }) => address);

describe('tokens among accounts', () => {
  it('are those of all kinds, and none of other accounts', async () => {
    const strangers = Array.from({ length: 50 }, (_, at) => keyOf('stranger', at));
    expect(await tokensAmong([...strangers, ...addresses])).toEqual(all);
    expect(await tokensAmong(strangers)).toEqual([]);
  });

  it('are all that an account is, and it stays one whatever else it becomes', async () => {
    const account = keyOf('changed', 1);
    await insertTokens(made.store, { wallets: [walletRow(9001, { address: account, jetton: keyOf('none', 1) })] });
    await insertTokens(made.store, { items: [itemRow(9001, { address: account })] });
    expect(await tokensAmong([account])).toEqual([nameOf('jetton_wallets', account), nameOf('nft_items', account)]);
  });
});

const listed = async (): Promise<readonly Buffer[]> =>
  (await made.store.read<{ account: Buffer }>('SELECT account FROM token_accounts ORDER BY account')).map(
    ({ account }) => account,
  );

describe('the list of accounts that are tokens', () => {
  it('is made of what is there when it begins to be kept', async () => {
    const kept = await listed();
    expect(kept.length).toBeGreaterThan(100);
    await made.store.transaction(async ({ query }) => {
      await query('TRUNCATE token_accounts');
      await query(tokenAccounts.statements.at(-1)!);
    });
    expect(await listed()).toEqual(kept);
  });
});
