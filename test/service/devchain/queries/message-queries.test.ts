import { Address, beginCell, external, storeMessage, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { createMessageInbox } from '#service/devchain/queries/message-queries.ts';
import type { ChainView } from '#service/devchain/chain/chain-view.ts';
import { exoticCells } from '#test/service/decode/exotic-cells.ts';
import { chain } from '../network.ts';

const elector = `-1:${'33'.repeat(32)}`;

function messageTo(address: string, body = beginCell().endCell()): Buffer {
  const message = external({ to: Address.parse(address), body });
  return beginCell().store(storeMessage(message)).endCell().toBoc();
}

/** With the body in a cell of its own. */
function messageAround(body: Cell): Buffer {
  const head = beginCell().storeUint(0b1000, 4).storeAddress(Address.parse(elector)).storeCoins(0n);
  return head.storeUint(0b01, 2).storeRef(body).endCell().toBoc();
}

function deepCell(depth: number): ReturnType<typeof messageBody> {
  let cell = messageBody();
  for (let level = 0; level < depth; level++) cell = beginCell().storeRef(cell).endCell();
  return cell;
}

function messageBody(): ReturnType<ReturnType<typeof beginCell>['endCell']> {
  return beginCell().endCell();
}

describe('sendMessage', () => {
  let nowMs = 0;

  const view: ChainView = { chain, tip: chain.lastSeqno, nowSeconds: 0 };

  function send(...bodies: Buffer[]): unknown {
    const inbox = createMessageInbox({ nowMs: () => nowMs });
    return bodies.map((body) => inbox.accept(view, { body })).at(-1);
  }

  it('takes an external message to an account that exists', () => {
    expect(send(messageTo(elector))).toEqual({ status: 1 });
  });

  it('takes the same bytes once in a minute', () => {
    const inbox = createMessageInbox({ nowMs: () => nowMs });
    const body = messageTo(elector);
    inbox.accept(view, { body });
    expect(() => inbox.accept(view, { body })).toThrow('cannot send external message : duplicate message');
    nowMs += 60_000;
    expect(inbox.accept(view, { body })).toEqual({ status: 1 });
  });

  it('forgets what it refused', () => {
    const body = messageTo(`0:${'ab'.repeat(32)}`);
    const twice = (): unknown => send(body, body);
    expect(twice).toThrow('Failed to unpack account state');
  });

  it.each<[string, () => Buffer]>([
    ['cannot deserialize bag-of-cells: not enough bytes (0 present, 10 required)', () => Buffer.alloc(0)],
    ['cannot deserialize bag-of-cells: invalid header, error 0', () => Buffer.from('deadbeef', 'hex')],
    ['cannot deserialize bag-of-cells: ', () => messageTo(elector).subarray(0, 20)],
    ['external message too large, rejecting', () => Buffer.alloc(65_536)],
    ['the body of the external message is an exotic cell', () => messageAround(exoticCells.library)],
    ['the body of the external message is an exotic cell', () => messageAround(exoticCells.merkleProof)],
    ['external message is too deep', () => messageTo(elector, deepCell(520))],
    ['external message must begin with ext_in_msg_info$10', () => beginCell().storeUint(1, 300).endCell().toBoc()],
    [
      'external message is not a (Message Any) according to automated checks',
      () => beginCell().storeUint(0b1000, 4).endCell().toBoc(),
    ],
    [
      'destination of an inbound external message is an invalid blockchain address',
      () => beginCell().storeUint(0b100000, 6).storeUint(0, 300).endCell().toBoc(),
    ],
    ['no shard in masterchain state for account 5:0xabababababababab', () => messageTo(`5:${'ab'.repeat(32)}`)],
    ['Failed to unpack account state', () => messageTo(`0:${'ab'.repeat(32)}`)],
  ])('refuses: %s', (text, make) => {
    const sending = (): unknown => send(make());
    expect(sending).toThrow(`cannot apply external message to current state : ${text}`);
  });
});
