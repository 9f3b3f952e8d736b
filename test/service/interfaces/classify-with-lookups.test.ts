import { beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classifyWithLookups } from '#service/interfaces/classify-with-lookups.ts';
import type { AccountFacts } from '#service/interfaces/facts.ts';
import { accountOf, eventTrace, jettonTransfer, type Step } from '#test/support/event-traces.ts';
import { buyer, contract, item, items, owner } from '#test/support/nft-traces.ts';

const seller = { marketplace: null, nftOwner: owner, codeHash: null };

/** Auction, and the item that it sells, which has no transaction in a bid's trace. */
const known: Readonly<Record<string, AccountFacts>> = {
  [contract]: { nftAuction: { ...seller, nft: item, lastBid: 1n } },
  [item]: { nftItem: { index: 7n, collection: items, owner, content: null, codeHash: null } },
};

const bid = (to: string): Step => ({ to, body: beginCell().endCell(), value: 100n });

/** Creates a source of facts. It records the accounts of each lookup. */
function book(facts: Readonly<Record<string, AccountFacts>>) {
  const asked: (readonly string[])[] = [];
  return {
    asked,
    lookUp: (accounts: readonly string[]) => {
      asked.push(accounts);
      return Promise.resolve(new Map(accounts.flatMap((one) => (facts[one] ? [[one, facts[one]] as const] : []))));
    },
  };
}

describe('classification that looks accounts up', () => {
  it('classification looks up the accounts of the trace, then accounts that their facts name, each once', async () => {
    const { asked, lookUp } = book(known);
    const { state, actions } = await classifyWithLookups(eventTrace(buyer, [bid(contract), bid(contract)]), lookUp);
    expect(asked).toEqual([[buyer, contract], [item]]);
    expect(state).toBe('ok');
    expect(actions.map(({ type, asset }) => ({ type, asset }))).toEqual([
      { type: 'auction_bid', asset: items },
      { type: 'auction_bid', asset: items },
    ]);
  });

  it('classification stops at its bound of lookups and uses the facts it has', async () => {
    const auctions = Array.from({ length: 40 }, (_, index) => accountOf(1000 + index));
    const { asked, lookUp } = book(
      Object.fromEntries(
        auctions.map((auction, index) => [
          auction,
          { nftAuction: { ...seller, nft: accountOf(2000 + index), lastBid: 1n } },
        ]),
      ),
    );
    const { actions } = await classifyWithLookups(eventTrace(buyer, auctions.map(bid)), lookUp);
    expect(asked.map(({ length }) => length)).toEqual([41, 32]);
    expect(actions.filter(({ type }) => type === 'auction_bid')).toHaveLength(40);
  });

  it('classification looks up no more when no further account is needed', async () => {
    const [fromWallet, toWallet] = [accountOf(20), accountOf(21)];
    const jetton = accountOf(22);
    const transfer = jettonTransfer({
      wallet: fromWallet,
      to: { wallet: toWallet, owner },
      from: buyer,
      amount: 5n,
    });
    const { asked, lookUp } = book({
      [fromWallet]: { jettonWallet: { owner: buyer, jetton } },
      [toWallet]: { jettonWallet: { owner, jetton } },
    });
    const { actions } = await classifyWithLookups(eventTrace(buyer, [transfer]), lookUp);
    expect(asked).toEqual([[buyer, fromWallet, toWallet, owner]]);
    expect(actions).toMatchObject([{ type: 'jetton_transfer', asset: jetton, amount: 5n }]);
  });

  it('classification fails like the lookup', async () => {
    const away = new Error('no answer');
    await expect(classifyWithLookups(eventTrace(buyer, [bid(contract)]), () => Promise.reject(away))).rejects.toBe(
      away,
    );
  });
});
