import { Address, beginCell, Cell, internal, storeMessage, type MessageRelaxed } from '@ton/core';

import { oneOf, type Draw } from './draw.ts';
import type { ForkedNetwork } from './forked-network.ts';
import { base64, deep, exotic, noise, sharedTree, spoilBoc } from './hostile-values.ts';
import { jettonOrder } from './jetton-order.ts';
import { answeringCode, answeringData } from './scripted-contract.ts';
import { sharedDictionary } from './shared-cells.ts';
import { spoilRequest, tonConnectBodies } from './ton-connect-bodies.ts';
import { transfer } from './wallet.ts';

/** Body of a request. */
export type EmulateBody = Readonly<Record<string, unknown>>;

/** Good bodies for `emulateTrace`, and random bodies that begin as a good one. */
export type EmulateBodies = {
  /** Messages that end soon. */
  readonly short: readonly EmulateBody[];
  /** Messages to contracts that run until a bound of gas, of thread time or of the trace. */
  readonly endless: readonly EmulateBody[];
  /** Text of a random body for `emulateTrace`. */
  draw(draw: Draw): string;
  /** Text of a random body for `emulateTonConnect`. */
  drawTonConnect(draw: Draw): string;
};

/** A random body begins as an endless one once in so many times. Such a body costs as much CPU time as a hundred others. */
const ENDLESS_ONCE_IN = 24;

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
function contract(code: string | Cell, data: Cell = Cell.EMPTY): EmulateBody {
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
function branching(messages: readonly MessageRelaxed[]): EmulateBody {
  return contract(answeringCode, answeringData(messages));
}

function toItself(body = Cell.EMPTY): MessageRelaxed {
  return internal({ to: hostile, value: 1_000_000_000n, body });
}

/** A contract that sends itself one message for ever: 32 transactions, the greatest depth of a trace. */
export const selfAnswering = branching([toItself()]);

function shortBodies(forked: ForkedNetwork): readonly EmulateBody[] {
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
    contract('88', sharedTree(60)),
    contract(beginCell().storeUint(0x88, 8).storeRef(sharedTree(50)).endCell()),
  ];
}

const endless: readonly EmulateBody[] = [
  selfAnswering,
  branching(Array.from({ length: 3 }, () => toItself())),
  branching(Array.from({ length: 255 }, () => toItself())),
  branching(Array.from({ length: 40 }, () => toItself(deep(400)))),
  branching(Array.from({ length: 8 }, () => toItself(sharedTree(30)))),
  // `PUSHCONT; AGAIN` of nothing, of `NOP`, and of `PUSHINT 1; DROP`; an endless recursion of the code itself.
  ...['90EA', '9100EA', '927130EA', 'ED43D8', 'ED43DB'].map((code) => contract(code)),
  // `NEWC; PUSHCONT; AGAIN` of `ENDC; NEWC; STREF`: cells without end.
  contract('C893C9C8CCEA'),
  contract(sharedDictionary(19, 10, beginCell().storeUint(0, 8)), deep(500)),
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

const overrideCells = [base64(Cell.EMPTY), base64(deep(600)), base64(sharedTree(60)), ...exotic];
const fiveCells = base64(deep(5));

function spoil(draw: Draw, body: Record<string, unknown>): void {
  const field = oneOf(draw, fields);
  const value = body[field];
  if (draw(4) === 0) delete body[field];
  else if (field === 'boc' && typeof value === 'string' && draw(3) > 0) body[field] = spoilBoc(draw, value);
  else body[field] = oneOf(draw, noise);
}

/** @param forked a network whose head stands */
export function createEmulateBodies(forked: ForkedNetwork): EmulateBodies {
  const short = shortBodies(forked);
  const accounts = [hostile, sender, forked.wallet('w3').address, forked.address('jetton_wallet_w3')];

  /** Blocks before the fork are missing: the answer for these is that of v2. */
  function drawSeqno(draw: Draw): unknown {
    const head = forked.network.head().id.seqno;
    return oneOf(draw, [head - 1, head, head + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, String(head)]);
  }

  /** Malformed or strange parts of accounts that the messages come to, or of others. */
  function drawOverrides(draw: Draw): EmulateBody {
    const cells = [...overrideCells, spoilBoc(draw, fiveCells)];
    const part = (): unknown => (draw(10) === 0 ? oneOf(draw, noise) : oneOf(draw, cells));
    return Object.fromEntries(
      Array.from({ length: draw(draw(20) === 0 ? 18 : 4) }, (_, at) => {
        const account =
          at < accounts.length ? oneOf(draw, accounts).toRawString() : `-1:${String(at).padStart(64, '0')}`;
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

  function drawText(draw: Draw, begun: EmulateBody, spoilOne: typeof spoil): string {
    const body: Record<string, unknown> = structuredClone({ ...begun });
    for (const flag of flags) if (draw(3) === 0) body[flag] = draw(4) > 0;
    if (draw(4) === 0) body['mc_block_seqno'] = drawSeqno(draw);
    if (draw(3) === 0) body['overrides'] = { ...(body['overrides'] as object), ...drawOverrides(draw) };
    for (let spoiled = draw(3); spoiled > 0; spoiled--) spoilOne(draw, body);
    const text = JSON.stringify(body);
    if (draw(25) > 0) return text;
    return oneOf(draw, [text.slice(0, draw(text.length)), `[${text}]`, '', 'null', `${text}x`, '{"boc":'.repeat(100)]);
  }

  const tonConnect = tonConnectBodies(forked);
  return {
    short,
    endless,
    draw: (draw) => drawText(draw, oneOf(draw, draw(ENDLESS_ONCE_IN) === 0 ? endless : short), spoil),
    drawTonConnect: (draw) => drawText(draw, oneOf(draw, tonConnect), spoilRequest),
  };
}
