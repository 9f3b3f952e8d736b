import { Address, beginCell, Cell, type Builder } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { commentBody } from '#service/devchain/demo/tokens.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { createBodyDecoder, decodeBody, decodedOpcode } from '#service/decode/messages/messages.ts';
import { createRandom } from '../random.ts';
import { bodyConstructors, createBodyBuilder } from './body-builder.ts';

function decode(cell: Cell): unknown {
  const boc = parseBoc(cell.toBoc());
  return decodeBody(new CellSlice(boc, boc.roots[0]!));
}

/** Bodies made for one constructor. Some values are too large for a cell and are made again. */
const BODIES_EACH = 20;
const TRIES_EACH = 400;

/** Returns a body whose table fails like a defect. */
function defective(): CellSlice {
  const boc = parseBoc(beginCell().storeUint(0, 64).endCell().toBoc());
  const body = new CellSlice(boc, boc.roots[0]!);
  boc.kind = kindOfDefect;
  return body;
}

function kindOfDefect(): never {
  throw new TypeError('a defect');
}

function stackOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).stack;
  }
}

describe('decodeBody', () => {
  it('a defect is thrown with its stack, and the stacks of other errors stay as they were', () => {
    const { stackTraceLimit } = Error;
    expect(stackOf(() => decodeBody(defective()))).toMatch(/a defect\n.*kindOfDefect/);
    expect(decode(beginCell().storeUint(0xffff_fffe, 32).endCell())).toBeUndefined();
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });

  it.each(bodyConstructors.map((source, at) => ({ source, at, name: `${source.name} (${at})` })))(
    'a body written as $name is decoded',
    ({ source, at }) => {
      const random = createRandom(at + 1);
      const builder = createBodyBuilder(random);
      const rivals = bodyConstructors.slice(0, at).filter((other) => other.tag === source.tag);
      let made = 0;
      for (let tries = 0; tries < TRIES_EACH && made < BODIES_EACH; tries++) {
        let body: ReturnType<typeof builder.body>;
        try {
          body = builder.body(source);
        } catch {
          continue;
        }
        made++;
        const shown = decode(body.cell) as { '@type': string };
        // An earlier constructor of the same tag may fit too.
        if (rivals.some((other) => other.name === shown['@type']) && shown['@type'] !== source.name) continue;
        if (rivals.length > 0 && JSON.stringify(shown) !== JSON.stringify(body.shown)) continue;
        expect(shown).toEqual(body.shown);
      }
      expect(made).toBeGreaterThan(0);
    },
  );

  it('shows what a bounced message of TEP-503 returns', () => {
    const body = beginCell()
      .storeUint(0xfffffffe, 32)
      .storeRef(beginCell().storeUint(0xd53276db, 32).storeUint(7, 64))
      .storeRef(beginCell().storeCoins(9).storeBit(false).storeUint(5, 64).storeUint(6, 32))
      .storeUint(1, 8)
      .storeInt(-14, 32)
      .storeBit(true)
      .storeUint(900, 32)
      .storeUint(12, 32);
    expect(decode(body.endCell())).toMatchObject({
      '@type': 'new_bounce_body',
      original_body: { '@type': 'excess', query_id: '7' },
      exit_code: '-14',
      original_info: {
        value: {
          grams: { '@type': 'nanograms', amount: { '@type': 'var_uint', len: '1', value: '9' } },
          other: { '@type': 'extra_currencies', dict: { '@type': 'hashmap_empty' } },
        },
      },
      compute_phase: { '@type': 'something_from_maybe', value: { gas_used: '900', vm_steps: '12' } },
    });
  });

  it('an empty cell is decoded as empty', () => {
    expect(decode(beginCell().endCell())).toEqual({ '@type': 'empty_cell' });
  });

  it.each([
    ['fewer than 32 bits', beginCell().storeUint(5, 31).endCell()],
    ['references alone', beginCell().storeRef(beginCell().endCell()).endCell()],
    ['an operation that no scheme has', beginCell().storeUint(0xdeadbeef, 32).endCell()],
    ['a known operation with a field missing', beginCell().storeUint(0x0f8a7ea5, 32).storeUint(1, 64).endCell()],
  ])('the unknown body is not decoded: %s', (_case, cell) => {
    expect(decode(cell)).toBeUndefined();
  });

  it('a comment over many cells is read, and one that begins in a reference', () => {
    const text = 'Käse '.repeat(120);
    const chain = commentBody(text);
    expect(decode(chain)).toEqual({ '@type': 'text_comment', text });
    const referred = beginCell().storeUint(0, 32).storeStringRefTail(text).endCell();
    expect(decode(referred)).toEqual({ '@type': 'text_comment', text });
  });

  it('a cell of unknown content stays a BoC, and one of known content is decoded', () => {
    const inner = beginCell().storeUint(0x12345678, 32).endCell();
    const boc = inner.toBoc({ idx: false, crc32: false }).toString('base64');
    expect(decode(notifyBody(inner))).toEqual(notified(boc));
    expect(decode(notifyBody(notifyBody(inner)))).toEqual(notified(notified(boc)));
  });

  it('nested cells are decoded eleven deep and no deeper', () => {
    let cell = beginCell().storeUint(0xd53276db, 32).storeUint(0, 64).endCell();
    for (let level = 0; level < 14; level++) {
      cell = beginCell().storeUint(0xc0ffee36, 32).storeUint(level, 64).storeRef(cell).endCell();
    }
    let shown = decode(cell);
    let depth = 0;
    for (; typeof shown === 'object' && shown !== null; depth++) shown = (shown as { body: unknown }).body;
    expect(depth).toBe(12);
    expect(shown).toMatch(/^te6c/);
  });

  it('cells that share others without end are given up', () => {
    // A dictionary of 2^32 keys in 33 cells. Every fork has the same cell twice.
    let node = beginCell().storeUint(0b00, 2).storeUint(5, 32).endCell();
    for (let level = 0; level < 32; level++) node = fork(node);
    const burn = beginCell().storeUint(0x73403c43, 32).storeUint(0, 64).storeBit(true).storeRef(node).storeBit(false);
    expect(decode(burn.endCell())).toBeUndefined();
  });

  it('a cell that is repeated beyond the size of a message is given up', () => {
    expect(JSON.stringify(settleRequest(3)).match(/hashmap_node_leaf/g)).toHaveLength(8);
    expect(settleRequest(8)).toBeUndefined();
  });
});

/** Decoded form of `notifyBody`. */
function notified(value: unknown): object {
  return {
    '@type': 'jetton_notify',
    query_id: '1',
    amount: { '@type': 'var_uint', len: '1', value: '5' },
    sender: { '@type': 'addr_none' },
    forward_payload: { '@type': 'second_from_either', value },
  };
}

function notifyBody(payload: Cell): Cell {
  return beginCell()
    .storeUint(0x7362d09c, 32)
    .storeUint(1, 64)
    .storeCoins(5)
    .storeAddress(null)
    .storeBit(true)
    .storeRef(payload)
    .endCell();
}

/** Decodes two to the power of `forks` conditions that all refer to the same 40 KB. */
function settleRequest(forks: number): unknown {
  let heavy = beginCell().endCell();
  for (let level = 0; level < 400; level++) {
    heavy = beginCell().storeUint(level, 31).storeBuffer(Buffer.alloc(100, level)).storeRef(heavy).endCell();
  }
  let node = beginCell().storeUint(0b00, 2).storeBit(true).storeRef(heavy).endCell();
  for (let level = 1; level < forks; level++) node = fork(node);
  // hml_same$11: the first bits of all keys are zeros.
  const root = beginCell()
    .storeUint(0b110, 3)
    .storeUint(32 - forks, 6)
    .storeRef(node)
    .storeRef(node)
    .endCell();
  const body = beginCell()
    .storeUint(0x66f6f069, 32)
    .storeUint(0, 1 + 512 + 32 + 128)
    .storeBit(true)
    .storeRef(root);
  return decode(body.endCell());
}

function fork(branch: Cell): Cell {
  return beginCell().storeUint(0b00, 2).storeRef(branch).storeRef(branch).endCell();
}

/** Returns a jetton transfer with a payload in a cell. */
const forwarded = (n: number): Builder =>
  beginCell()
    .storeUint(0xf8a7ea5, 32)
    .storeUint(n, 64)
    .storeCoins(n)
    .storeUint(0, 2)
    .storeUint(0, 2)
    .storeBit(0)
    .storeCoins(1)
    .storeBit(1)
    .storeRef(commentBody(`payload ${n}`));

describe('a decoder for bodies of one table', () => {
  /** Twelve nested bodies. The last one is within reach by itself, but not in an order. */
  const deep = Array.from({ length: 11 }).reduce<Cell>(
    (inner) => beginCell().storeUint(0xc0ffee36, 32).storeUint(0, 64).storeRef(inner).endCell(),
    beginCell().storeUint(0xd53276db, 32).storeUint(0, 64).endCell(),
  );
  const bodies = [
    forwarded(1),
    forwarded(2),
    beginCell().storeUint(0xfffffffe, 32).storeRef(Cell.EMPTY),
    beginCell().storeSlice(deep.beginParse()),
  ];

  /** Returns a signed order of a wallet v4 to send the bodies. Each body is in its message or in a cell of its own. */
  function order(isApart: boolean): Cell {
    const builder = beginCell().storeUint(0, 512).storeUint(1, 32).storeUint(2, 32).storeUint(3, 32).storeUint(0, 8);
    for (const body of bodies) {
      const message = beginCell()
        .storeUint(0x10, 6)
        .storeAddress(new Address(0, Buffer.alloc(32, 5)))
        .storeCoins(5)
        .storeUint(0, 1 + 4 + 4 + 64 + 32 + 1);
      builder.storeUint(3, 8);
      builder.storeRef(isApart ? message.storeBit(1).storeRef(body.endCell()) : message.storeBit(0).storeBuilder(body));
    }
    return builder.endCell();
  }

  it.each([
    ['in cells of their own', true],
    ['within their messages', false],
  ])('a body that was decoded within an order is decoded as by itself: %s', (_where, isApart) => {
    const boc = parseBoc(
      beginCell().storeRef(order(isApart)).storeRef(beginCell().storeRef(deep).endCell()).endCell().toBoc(),
    );
    const root = new CellSlice(boc, boc.roots[0]!);
    const decodeKnown = createBodyDecoder();
    const taken = root.refSlice();
    expect(decodeKnown(taken)).toMatchObject({ '@type': 'wallet_signed_v4' });
    const sent = Array.from({ length: 4 }, (_, at) => {
      const slice = new CellSlice(boc, boc.ref(taken.cell, at));
      slice.skip(slice.remainingBits - (isApart ? 0 : bodies[at]!.bits));
      return isApart ? slice.refSlice() : slice;
    });
    expect(sent.map((one) => decodeKnown(one))).toEqual(sent.map((one) => decodeBody(one)));
    expect(sent.map((one) => decodeKnown(one)?.['@type'])).toEqual([
      'jetton_transfer',
      'jetton_transfer',
      undefined,
      'coffee_notification',
    ]);
    const within = JSON.stringify(decodeKnown(taken));
    expect(within).toContain(JSON.stringify(decodeKnown(sent[0]!)));
    expect(within).not.toContain(JSON.stringify(decodeKnown(sent[3]!)));
  });
});

describe('decodedOpcode', () => {
  it.each([
    [0x0f8a7ea5, 'jetton_transfer'],
    [0x178d4519, 'jetton_internal_transfer'],
    [0x7362d09c, 'jetton_notify'],
    [0xd53276db, 'excess'],
    [0xffffffff, 'bounce'],
    [0xfffffffe, 'new_bounce_body'],
    [-0x2acd8925, 'excess'],
    [0, 'text_comment'],
    [0x5fcc3d14, 'nft_transfer'],
    [0x7369676e, 'w5_external_signed_request'],
    [0x0bf3f447, 'tonco_account_refund_me'],
    [0x0c0ffede, 'coffee_staking_lock_forward_payload'],
    [0xdeadbeef, undefined],
  ])('the opcode %i is %s', (opcode, name) => {
    expect(decodedOpcode(opcode)).toBe(name);
  });
});
