import { Address, beginCell, type Builder, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { classify } from '#service/actions/classify.ts';
import type { Interfaces } from '#service/actions/engine/interfaces.ts';
import { accounts, bareBody, eventTrace, knownWallets, open, type Step } from '#test/support/event-traces.ts';

const [user, vault, pool, nextPool, jetton, wanted] = accounts(6);
const at = (account: string): Address => Address.parse(account);

const pools: Readonly<Record<string, readonly (string | null)[]>> = {
  [pool]: [null, jetton],
  [nextPool]: [jetton, wanted],
};

/** `step#_ pool_addr:MsgAddressInt kind:SwapKind limit:Coins next:(Maybe ^SwapStep)` */
const step = (builder: Builder, through: string, next?: Cell): Builder =>
  builder.storeAddress(at(through)).storeBit(false).storeCoins(1).storeMaybeRef(next);

const order = step(open(0xea06185d).storeCoins(100), pool, step(beginCell(), nextPool).endCell()).endCell();
const payout = (opcode: number): Cell => open(opcode).storeRef(beginCell()).storeCoins(90).endCell();

/** The first pool refuses: what it got goes back as it came. */
const refused: Step = {
  to: vault,
  body: order,
  sends: [
    {
      to: pool,
      body: bareBody(0x61ee542d),
      sends: [{ to: vault, body: payout(0xad4eb6f5), sends: [{ to: user, body: payout(0x474f86cf), value: 90n }] }],
    },
  ],
};

function swapOf(known: Readonly<Record<string, readonly (string | null)[]>>) {
  const interfaces: Interfaces = {
    ...knownWallets({}),
    dedustPool: (account) => (known[account] === undefined ? undefined : { assets: known[account] }),
  };
  return classify(eventTrace(user, [refused]), interfaces).actions.find(({ type }) => type === 'jetton_swap');
}

describe('a swap at DeDust that came to nothing', () => {
  it('tells what was to come of it by the pools that it was to go through', () => {
    expect(swapOf(pools)).toMatchObject({
      source: user,
      asset: null,
      asset2: wanted,
      data: {
        jetton_swap_data: { dex: 'dedust', dex_outgoing_transfer: { asset: null, amount: 90n }, peer_swaps: [] },
      },
      success: false,
    });
  });

  it.each([
    ['is not known', { [pool]: [null, jetton] }],
    ['does not have what comes to it', { ...pools, [nextPool]: [null, wanted] }],
  ])('tells what came back when a pool on the way %s', (_what, known) => {
    expect(swapOf(known)).toMatchObject({ asset: null, asset2: null, success: false });
  });
});
