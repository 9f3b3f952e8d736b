import { Address, beginCell, Cell, internal, storeMessage, type MessageRelaxed } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Reply } from '#test/service/http/requests.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { createDraw, oneOf, type Draw } from '#test/support/draw.ts';
import { openEmulateClient, type EmulateClient } from '#test/support/emulate-client.ts';
import { startForkedNetwork, type ForkedNetwork } from '#test/support/forked-network.ts';
import { jettonOrder } from '#test/support/jetton-order.ts';
import { answeringCode, answeringData } from '#test/support/scripted-contract.ts';
import { sharedDictionary } from '#test/support/shared-cells.ts';
import { countOf } from '#test/support/volume.ts';
import { transfer } from '#test/support/wallet.ts';

const requests = countOf({ quick: 200, full: 1000, long: 10_000 });

/** Requests at once: more than the threads of the TVM. */
const callers = 6;

const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const TRANSACTIONS_MAX = 256;

/** The bound of a trace, and a last transaction that begins below the bound. */
const GAS_MAX = 4_000_000 + 1_000_000;

/** A larger answer is not judged by the document: judging takes longer than the emulation. */
const JUDGED_CHARACTERS_MAX = 100_000;

type Body = Readonly<Record<string, unknown>>;

let forked: ForkedNetwork;
let service: Omit<ApiUnderTest, 'network'>;
let client: EmulateClient;
let bodies: readonly Body[];

beforeAll(async () => {
  forked = await startForkedNetwork();
  service = await startApiOver(forked.network);
  client = await openEmulateClient(service);
  bodies = goodBodies();
});
afterAll(() => service.close());

const base64 = (cell: Cell): string => cell.toBoc().toString('base64');
const hostile = Address.parseRaw(`0:${'5'.repeat(64)}`);
const sender = Address.parseRaw(`0:${'6'.repeat(64)}`);

/** A message between accounts. */
function messageTo(dest: Address, body = Cell.EMPTY): string {
  const relaxed = internal({ to: dest, value: 1_000_000_000n, bounce: true, body });
  const info = { ...relaxed.info, src: sender } as never;
  return base64(
    beginCell()
      .store(storeMessage({ ...relaxed, info }))
      .endCell(),
  );
}

/** An account with the code, which a message comes to. */
function contract(code: string | Cell, data: Cell = Cell.EMPTY): Body {
  const codeCell = typeof code === 'string' ? beginCell().storeBuffer(Buffer.from(code, 'hex')).endCell() : code;
  return {
    boc: messageTo(hostile),
    ignore_chksig: true,
    overrides: {
      [hostile.toRawString()]: { balance: '1000000000000000', code: base64(codeCell), data: base64(data) },
    },
  };
}

/** A contract that answers itself, so that a trace never ends. */
function branching(messages: readonly MessageRelaxed[]): Body {
  return contract(answeringCode, answeringData(messages));
}

/** Cells whose tree has 2^levels leaves. */
function sharedTree(levels: number): Cell {
  let cell = beginCell().storeUint(7, 64).endCell();
  for (let level = 0; level < levels; level++) cell = beginCell().storeRef(cell).storeRef(cell).endCell();
  return cell;
}

function deep(levels: number): Cell {
  let cell = Cell.EMPTY;
  for (let level = 0; level < levels; level++) cell = beginCell().storeUint(level, 32).storeRef(cell).endCell();
  return cell;
}

function toItself(body = Cell.EMPTY): MessageRelaxed {
  return internal({ to: hostile, value: 1_000_000_000n, body });
}

/** Requests that run, among them contracts that never end. */
function goodBodies(): readonly Body[] {
  const w3 = forked.wallet('w3');
  const order = jettonOrder(forked.address('jetton_wallet_w3'), {
    to: forked.wallet('w1').address,
    amount: 5n,
    back: w3.address,
    forward: 10_000_000n,
  });
  return [
    { boc: w3.send(0, [transfer(sender, 5n)]).toString('base64') },
    { boc: w3.send(0, [order]).toString('base64'), with_actions: true },
    { boc: w3.send(7, [order]).toString('base64') },
    { boc: messageTo(forked.address('jetton_minter')), ignore_chksig: true },
    { boc: messageTo(sender, sharedTree(40)), ignore_chksig: true },
    branching([toItself()]),
    branching(Array.from({ length: 3 }, () => toItself())),
    branching(Array.from({ length: 255 }, () => toItself())),
    branching(Array.from({ length: 40 }, () => toItself(deep(400)))),
    branching(Array.from({ length: 8 }, () => toItself(sharedTree(30)))),
    // `PUSHCONT; AGAIN` of nothing, of `NOP`, and of `PUSHINT 1; DROP`; an endless recursion of the code itself.
    ...['90EA', '9100EA', '927130EA', 'ED43D8', 'ED43DB'].map((code) => contract(code)),
    // `NEWC; PUSHCONT; AGAIN` of `ENDC; NEWC; STREF`: cells without end.
    contract('C893C9C8CCEA'),
    contract('88', sharedTree(60)),
    contract(beginCell().storeUint(0x88, 8).storeRef(sharedTree(50)).endCell()),
    contract(sharedDictionary(19, 10, beginCell().storeUint(0, 8)), deep(500)),
  ];
}

const exotic = [
  // A library, a pruned branch, a Merkle proof and a Merkle update that are none.
  `02${'00'.repeat(32)}`,
  `0101${'11'.repeat(32)}0001`,
  `03${'22'.repeat(32)}0001`,
  `04${'33'.repeat(64)}00010001`,
  'ff',
].map((hex) => bocOfExotic(Buffer.from(hex, 'hex')));

/** A bag of one exotic cell, whatever its form. */
function bocOfExotic(bytes: Buffer): string {
  const cell = Buffer.concat([Buffer.from([8, bytes.length * 2]), bytes]);
  const head = Buffer.from([0xb5, 0xee, 0x9c, 0x72, 0x01, 0x01, 0x01, 0x01, 0x00, cell.length, 0x00]);
  return Buffer.concat([head, cell]).toString('base64');
}

/** Values of no sense for any field. */
const noise: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  '',
  ' ',
  '\u0000',
  '\uD800',
  '__proto__',
  '9'.repeat(400),
  'A'.repeat(4000),
  'te6cc',
  'te6cckEBAQEAAgAAAEysuc0=',
  ...exotic,
  base64(deep(1000)),
  base64(sharedTree(200)),
  [],
  {},
  [[[[]]]],
  JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`),
];

const fields = [
  'boc',
  'ignore_chksig',
  'with_actions',
  'include_code_data',
  'include_address_book',
  'include_metadata',
  'mc_block_seqno',
  'rand_seed',
  'overrides',
  'unknown_field',
];
const flags = fields.slice(1, 6);

function drawBody(draw: Draw): string {
  const body: Record<string, unknown> = structuredClone({ ...oneOf(draw, bodies) });
  for (const flag of flags) if (draw(3) === 0) body[flag] = draw(4) > 0;
  if (draw(4) === 0) body['mc_block_seqno'] = drawSeqno(draw);
  if (draw(3) === 0) body['overrides'] = { ...(body['overrides'] as object), ...drawOverrides(draw) };
  for (let spoiled = draw(3); spoiled > 0; spoiled--) spoil(draw, body);
  const text = JSON.stringify(body);
  if (draw(25) > 0) return text;
  return oneOf(draw, [text.slice(0, draw(text.length)), `[${text}]`, '', 'null', `${text}x`, '{"boc":'.repeat(100)]);
}

/** Blocks before the fork are missing: the answer for these is that of v2. */
function drawSeqno(draw: Draw): unknown {
  const head = forked.network.head().id.seqno;
  return oneOf(draw, [head - 1, head, head + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, String(head)]);
}

/** Malformed or strange parts of accounts that the messages come to, or of others. */
function drawOverrides(draw: Draw): Body {
  const accounts = [hostile, sender, forked.wallet('w3').address, forked.address('jetton_wallet_w3')];
  const cells = [
    base64(Cell.EMPTY),
    base64(deep(600)),
    base64(sharedTree(60)),
    ...exotic,
    spoilBoc(draw, base64(deep(5))),
  ];
  const part = (): unknown => (draw(10) === 0 ? oneOf(draw, noise) : oneOf(draw, cells));
  return Object.fromEntries(
    Array.from({ length: draw(draw(20) === 0 ? 18 : 4) }, (_, at) => {
      const account = at < accounts.length ? oneOf(draw, accounts).toRawString() : `-1:${String(at).padStart(64, '0')}`;
      const balance = oneOf(draw, [
        '0',
        '1',
        '1000000000',
        (2n ** 120n - 1n).toString(),
        (2n ** 120n).toString(),
        '-1',
      ]);
      return [
        account,
        {
          ...(draw(2) === 0 && { balance }),
          ...(draw(2) === 0 && { code: part() }),
          ...(draw(2) === 0 && { data: part() }),
        },
      ];
    }),
  );
}

function spoil(draw: Draw, body: Record<string, unknown>): void {
  const field = oneOf(draw, fields);
  const value = body[field];
  if (draw(4) === 0) delete body[field];
  else if (field === 'boc' && typeof value === 'string' && draw(3) > 0) body[field] = spoilBoc(draw, value);
  else body[field] = oneOf(draw, noise);
}

/** Flips, cuts, or adds bytes. */
function spoilBoc(draw: Draw, text: string): string {
  const bytes = Buffer.from(text, 'base64');
  for (let flips = draw(4); flips > 0; flips--) bytes[draw(bytes.length)]! ^= 1 << draw(8);
  const kind = draw(6);
  if (kind === 0) return bytes.subarray(0, draw(bytes.length)).toString('base64');
  if (kind === 1) return Buffer.concat([bytes, bytes]).toString('base64');
  if (kind === 2) return bytes.toString('hex');
  if (kind === 3) return text.replaceAll('A', '-');
  return bytes.toString('base64');
}

/**
 * Bounds of each status, as parts of all answers. An emulation that reaches the deadline of its request is answered with 504. Six of the
 * largest traces at once reach it on two cores.
 */
const shares: ReadonlyMap<number, { readonly min: number; readonly max: number }> = new Map([
  [200, { min: 0.15, max: 0.4 }],
  [400, { min: 0.01, max: 0.1 }],
  [422, { min: 0.4, max: 0.75 }],
  [504, { min: 0, max: 0.12 }],
]);

type Shown = {
  readonly transactions: Readonly<
    Record<string, { readonly description: { readonly compute_ph: { gas_used?: string } } }>
  >;
};

/** The fault of an answer; undefined without fault. */
function flawOf(reply: Reply): string | undefined {
  const { status, text, body } = reply;
  if (Buffer.byteLength(text) > ANSWER_BYTES_MAX) return 'the answer is larger than 16 MiB';
  if (text.length < JUDGED_CHARACTERS_MAX) {
    const flaws = client.flaws('emulateTrace', reply);
    if (flaws.length > 0) return `${status} contradicts the document: ${JSON.stringify(flaws).slice(0, 1000)}`;
  }
  if (status === 200) return flawOfTrace(body as unknown as Shown);
  const isError = body['ok'] === false && body['code'] === status && typeof body['error'] === 'string';
  if (!isError) return `${status} has another form: ${text.slice(0, 300)}`;
  return status < 500 || status === 504 ? undefined : `${status}: ${text.slice(0, 300)}`;
}

function flawOfTrace({ transactions }: Shown): string | undefined {
  const ran = Object.values(transactions);
  if (ran.length > TRANSACTIONS_MAX) return `${ran.length} transactions`;
  const gas = ran.reduce((sum, { description }) => sum + Number(description.compute_ph.gas_used ?? 0), 0);
  return gas > GAS_MAX ? `${gas} of gas` : undefined;
}

describe('random bodies for emulateTrace', () => {
  it('have among them contracts that answer themselves until a bound of the trace', async () => {
    const { body } = await client.post('emulateTrace', branching([toItself()]));
    expect([body['is_incomplete'], Object.keys(body['transactions'] as object).length]).toEqual([true, 32]);
  });

  it('are answered within the bounds, never with a fault of the service', { timeout: 1_800_000 }, async () => {
    const draw = createDraw(20_261_128);
    const flaws = new Map<string, string>();
    const statuses = new Map<number, number>();
    let left = requests;
    const caller = async (): Promise<void> => {
      while (left-- > 0) {
        const body = drawBody(draw);
        const reply = await client.postText('emulateTrace', body);
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
        const flaw = flawOf(reply);
        if (flaw !== undefined) flaws.set(flaw, body.slice(0, 3000));
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    expect([...flaws]).toEqual([]);
    for (const [status, { min, max }] of shares) {
      const share = (statuses.get(status) ?? 0) / requests;
      expect([status, share, share >= min && share <= max]).toEqual([status, share, true]);
    }
    // The service still answers.
    const { body } = await client.post('emulateTrace', bodies[0]!);
    expect(body['is_incomplete']).toBe(false);
  });
});
