import { Address, beginCell, Cell, convertToMerkleProof } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { commentBody } from '#service/devchain/demo/tokens.ts';
import { bareBody, type Step } from '#test/support/event-traces.ts';
import { buyer, contract, item, itemActions, items, operation, owner, stateOf } from '#test/support/nft-traces.ts';

describe('an item that is minted', () => {
  it('is told by the logs that it writes then, too', () => {
    const minted: Step = {
      to: item,
      body: bareBody(5),
      init: stateOf(beginCell().endCell()),
      logs: [bareBody(6)],
    };
    expect(itemActions(owner, [minted], { nft: {} })).toMatchObject([
      { type: 'nft_mint', source: owner, destination: item, asset: items, opcode: 5 },
      { type: 'nft_mint', source: item, destination: item, asset: items, opcode: 6 },
    ]);
  });
});

const given = (to: string | null, sends: readonly Step[] = []): Step => ({
  to: item,
  body: operation(0x5fcc3d14)
    .storeAddress(to === null ? null : Address.parse(to))
    .storeAddress(null)
    .storeBit(false)
    .storeCoins(1)
    .endCell(),
  sends,
});

describe('actions that never fail', () => {
  it('is a mint, whatever the item makes of the message', () => {
    const minted: Step = { to: item, body: bareBody(5), init: stateOf(beginCell().endCell()), aborted: true };
    expect(itemActions(owner, [minted], { nft: {} })).toMatchObject([{ type: 'nft_mint', success: true }]);
  });

  it('is a purchase that was paid', () => {
    const payout: Step = { to: owner, body: commentBody('Profit'), value: 9n };
    const refused: Step = { ...given(buyer), aborted: true };
    const bought: Step = { to: contract, body: commentBody(''), sends: [payout, refused] };
    const actions = itemActions(buyer, [bought], { sale: {} });
    expect(actions.map(({ type, success }) => [type, success])).toEqual([
      ['nft_purchase', true],
      ['nft_transfer', false],
    ]);
  });
});

describe('an item that changes hands', () => {
  it('goes to somebody', () => {
    expect(itemActions(owner, [given(buyer)], { nft: {} })).toMatchObject([
      { type: 'nft_transfer', source: owner, destination: buyer },
    ]);
    expect(itemActions(owner, [given(null)], { nft: {} })).toEqual([]);
  });

  it('stays where it is when the order comes to nothing, although nobody paid for it', () => {
    const undone: Step = { ...given(buyer), value: 0n, aborted: true };
    expect(itemActions(owner, [undone], { nft: {} })).toMatchObject([{ type: 'nft_transfer', success: false }]);
  });

  it('takes along cells that no slice opens', () => {
    const exotic = convertToMerkleProof(beginCell().storeUint(5, 32).endCell());
    const body = operation(0x5fcc3d14)
      .storeAddress(Address.parse(buyer))
      .storeAddress(null)
      .storeMaybeRef(exotic)
      .storeCoins(1)
      .storeMaybeRef(exotic)
      .endCell();
    const [action] = itemActions(owner, [{ to: item, body }], { nft: {} });
    expect(action).toMatchObject({ type: 'nft_transfer', destination: buyer });
    const values = action!.data['nft_transfer_data'] as Readonly<Record<string, string>>;
    expect(Cell.fromBase64(values['custom_payload']!).equals(exotic)).toBe(true);
    expect(Cell.fromBase64(values['forward_payload']!).equals(exotic)).toBe(true);
  });

  it('an item whose message names no previous owner has none', () => {
    const assigned = operation(0x05138d91).storeAddress(null).storeBit(false).endCell();
    const [action] = itemActions(owner, [given(buyer, [{ to: buyer, body: assigned }])], { nft: {} });
    expect(action).toMatchObject({ type: 'nft_transfer', source: null, destination: buyer });
  });
});

describe('an item that is asked what it is', () => {
  it('reports it, whatever the receiver has left over', () => {
    const report = operation(0x8b771735).storeUint(7, 256).storeAddress(Address.parse(items)).endCell();
    const sends: Step[] = [{ to: buyer, body: report, sends: [{ to: owner, body: bareBody(0xd53276db) }] }];
    const [action] = itemActions(buyer, [{ to: item, body: bareBody(0x2fcb26a2), sends }], { nft: {} });
    expect(action).toMatchObject({ type: 'nft_discovery', source: buyer, asset: items, assetSecondary: item });
    expect(action?.accounts).not.toContain(owner);
  });
});
