import { Address, beginCell, external, ExternalAddress, storeMessage, type Cell } from '@ton/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readExternalMessage } from '#service/live/send/external-message.ts';
import { exoticBags, exoticCells } from '#test/service/decode/exotic-cells.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { readLines } from '../recorded-transactions.ts';

type Exchange = {
  readonly request: { readonly '@type': string; readonly body: string };
  readonly response: { readonly hash: string; readonly hash_norm: string; readonly message: string };
};

const recorded = recordingDirs().flatMap((dir) => readLines<Exchange>(dir, 'tonlib.jsonl'));
const withHashes = recorded.filter(({ request }) => request['@type'] === 'raw.sendMessageReturnHash');
const refused = recorded.filter(
  ({ request, response }) => request['@type'] === 'raw.sendMessage' && response.message !== undefined,
);
const none = { what: 'hashes of sent messages', why: 'none are recorded' };

describe.skipIf(skipLoudly(withHashes.length === 0 || refused.length === 0, none))('a recorded message', () => {
  test.each(withHashes)('has the hashes that tonlib told ($response.hash)', ({ request, response }) => {
    const { hash, normalizedHash } = readExternalMessage(Buffer.from(request.body, 'base64'));
    expect([hash.toString('base64'), normalizedHash.toString('base64')]).toEqual([response.hash, response.hash_norm]);
  });

  test.each(refused)('is refused as tonlib did ($response.message)', ({ request, response }) => {
    expect(() => readExternalMessage(Buffer.from(request.body, 'base64'))).toThrow(response.message);
  });
});

const cellTree: fc.Arbitrary<Cell> = fc
  .tuple(fc.uint8Array({ maxLength: 60 }), fc.uint8Array({ maxLength: 120 }), fc.boolean())
  .map(([head, tail, hasTail]) => {
    const cell = beginCell().storeBuffer(Buffer.from(head));
    if (hasTail) cell.storeRef(beginCell().storeBuffer(Buffer.from(tail)).endCell());
    return cell.endCell();
  });

const message = fc.record({
  workchain: fc.constantFrom(-1, 0, 5),
  id: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  sourceBits: fc.integer({ min: 0, max: 300 }),
  importFee: fc.bigInt({ min: 0n, max: 2n ** 100n }),
  code: fc.option(cellTree),
  body: cellTree,
  isBodyApart: fc.boolean(),
});

type Parts = typeof message extends fc.Arbitrary<infer T> ? T : never;

function build(parts: Parts): { cell: Cell; destination: Address } {
  const destination = new Address(parts.workchain, Buffer.from(parts.id));
  const { info } = external({ to: destination });
  const src = parts.sourceBits === 0 ? undefined : new ExternalAddress(1n, parts.sourceBits);
  const relaxed = {
    info: { ...info, ...(src !== undefined && { src }), importFee: parts.importFee },
    init: parts.code === null ? undefined : { code: parts.code },
    body: parts.body,
  };
  const cell = beginCell()
    .store(storeMessage(relaxed as Parameters<typeof storeMessage>[0], { forceRef: parts.isBodyApart }))
    .endCell();
  return { cell, destination };
}

/** TEP-467, built anew with another library. */
function normalize({ body }: Parts, destination: Address): Cell {
  const head = beginCell().storeUint(2, 2).storeUint(0, 2).storeAddress(destination).storeCoins(0n);
  return head.storeBit(false).storeBit(true).storeRef(body).endCell();
}

describe('any message from outside', () => {
  test('has the hash of its cell, and one normalized hash whatever its sender chose', () => {
    fc.assert(
      fc.property(message, fc.boolean(), fc.boolean(), (parts, idx, crc32) => {
        const { cell, destination } = build(parts);
        const read = readExternalMessage(cell.toBoc({ idx, crc32 }));
        expect(read.hash).toEqual(cell.hash());
        expect(read.normalizedHash).toEqual(normalize(parts, destination).hash());
        expect(readExternalMessage(cell.toBoc()).boc).toEqual(read.boc);
        expect(readExternalMessage(normalize(parts, destination).toBoc()).normalizedHash).toEqual(read.normalizedHash);
      }),
      { seed: 467, numRuns: 200 },
    );
  });

  test('of an address with an anycast prefix keeps it as it is', () => {
    const address = beginCell().storeUint(0b101, 3).storeUint(4, 5).storeUint(0b1011, 4);
    const destination = address.storeInt(0, 8).storeBuffer(Buffer.alloc(32, 7)).endCell();
    const body = beginCell().storeUint(1, 32).endCell();
    const rest = (fee: bigint) => beginCell().storeUint(0b1000, 4).storeSlice(destination.asSlice()).storeCoins(fee);
    const sent = rest(5n).storeBit(false).storeBit(false).storeSlice(body.asSlice()).endCell();
    const normalized = rest(0n).storeBit(false).storeBit(true).storeRef(body).endCell();
    expect(readExternalMessage(sent.toBoc()).normalizedHash).toEqual(normalized.hash());
  });
});

function chainOf(depth: number): Cell {
  let cell = beginCell().endCell();
  for (let count = 0; count < depth; count++) cell = beginCell().storeRef(cell).endCell();
  return cell;
}

function externalWith(body: Cell): Cell {
  return beginCell()
    .store(storeMessage(external({ to: new Address(0, Buffer.alloc(32, 1)), body })))
    .endCell();
}

/** With the body, and the state to deploy if there is one, in cells of their own. */
function externalOf(body: Cell, state?: Cell): Cell {
  const head = beginCell()
    .storeUint(0b1000, 4)
    .storeAddress(new Address(0, Buffer.alloc(32, 1)))
    .storeCoins(0n);
  if (state === undefined) head.storeBit(false);
  else head.storeUint(0b11, 2).storeRef(state);
  return head.storeBit(true).storeRef(body).endCell();
}

/** Cells of 1,000 bits that are all different, three below each. */
function treeOf(levels: number, salt = 0): Cell {
  const cell = beginCell().storeUint(salt, 64).storeBuffer(Buffer.alloc(110, 1));
  if (levels > 1) for (let at = 1; at <= 3; at++) cell.storeRef(treeOf(levels - 1, salt * 4 + at));
  return cell.endCell();
}

const nodeRefuses = 'LITE_SERVER_UNKNOWN: cannot apply external message to current state : external message';
const internal = beginCell().storeUint(0b0110, 4).storeUint(0, 2);

describe('what is no message from outside is refused in the words of those who would refuse it', () => {
  test.each<[string, Buffer, string]>([
    [
      'nothing',
      Buffer.alloc(0),
      'INVALID_BAG_OF_CELLS: bodycannot deserialize bag-of-cells: not enough bytes (0 present, 10 required)',
    ],
    [
      'no bag',
      Buffer.from('deadbeefdeadbeefdeadbeef', 'hex'),
      'INVALID_BAG_OF_CELLS: bodycannot deserialize bag-of-cells: invalid header',
    ],
    ['half a bag', externalWith(beginCell().endCell()).toBoc().subarray(0, 30), 'INVALID_BAG_OF_CELLS: body'],
    ['a bag with a wrong checksum', spoiled(externalWith(beginCell().endCell()).toBoc()), 'INVALID_BAG_OF_CELLS: body'],
    ['an empty cell', beginCell().endCell().toBoc(), 'Failed to unpack Message'],
    [
      'a cell of something else',
      beginCell().storeUint(2, 2).storeUint(5, 9).endCell().toBoc(),
      'Failed to unpack Message',
    ],
    [
      'a message between accounts',
      internal
        .storeAddress(new Address(0, Buffer.alloc(32, 1)))
        .storeCoins(1n)
        .storeBit(false)
        .storeCoins(0n)
        .storeCoins(0n)
        .storeUint(0, 64 + 32 + 2)
        .endCell()
        .toBoc(),
      'CommonMsgInfo tag is not ext_in_msg_info',
    ],
    ...exoticBags.map(([kind]): [string, Buffer, string] => [
      `one with a body of kind ${kind}`,
      externalOf(exoticCells[kind]).toBoc(),
      'the body of the external message is an exotic cell',
    ]),
    ...exoticBags.map(([kind]): [string, Buffer, string] => [
      `one with a state of kind ${kind}`,
      externalOf(beginCell().endCell(), exoticCells[kind]).toBoc(),
      'the state of the external message is an exotic cell',
    ]),
    ['a deep one', externalWith(chainOf(512)).toBoc(), `${nodeRefuses} is too deep`],
    ['a large one', externalWith(treeOf(7)).toBoc(), `${nodeRefuses} too large, rejecting`],
  ])('%s', (_what, bytes, text) => {
    expect(() => readExternalMessage(bytes)).toThrow(text);
    expect(errorOf(() => readExternalMessage(bytes))).toMatchObject({ code: 'bad_message', retryable: false });
  });

  test('but not one just within the limits', () => {
    expect(readExternalMessage(externalWith(chainOf(510)).toBoc()).hash).toHaveLength(32);
    expect(readExternalMessage(externalWith(treeOf(6)).toBoc()).boc.length).toBeGreaterThan(40_000);
  });
});

function spoiled(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length - 1]! ^= 1;
  return copy;
}

function errorOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
