import { type Address, beginCell, Cell, Dictionary, storeOutList, type MessageRelaxed } from '@ton/core';

import { methodIdOf } from '#service/tvm/method-id.ts';

// Contracts that stand in for ones whose code is not at hand: they answer with the messages that a test gives them, and say of themselves what it
// wants.

/**
 * What a stand-in does when a message comes, or at a tick of the chain: sends messages, or comes to nothing and stays as it is. `destroyed` sends the
 * last message with all that it has and is no more.
 */
export type Response = readonly MessageRelaxed[] | 'abort' | { readonly destroyed: readonly MessageRelaxed[] };

/** Null is `addr_none` and no address; an integer has 255 bits at most. */
export type MethodValue = bigint | Address | Cell | null;

/** What get-methods answer, the first value lowest; `takes` is how many arguments they are given. */
export type Method = { readonly takes?: number; readonly gives: readonly MethodValue[] };

export type Methods = Readonly<Record<string, Method>>;

/** Entry points by their numbers. */
const RECV_INTERNAL = 0;
const RUN_TICKTOCK = -2;

/** Modes of sending: gas on top; all that is left, and the account goes. */
const PAY_GAS = 1;
const DESTROY = 128 + 32;

/** `PUSHCTR c4; POPCTR c5`: answers each message with the messages of `answeringData`, without end. */
export const answeringCode = beginCell().storeBuffer(Buffer.from('ED44ED55', 'hex')).endCell();

export function answeringData(messages: readonly MessageRelaxed[]): Cell {
  const actions = messages.map((outMsg) => ({ type: 'sendMsg' as const, mode: PAY_GAS, outMsg }));
  return beginCell().store(storeOutList(actions)).endCell();
}

/** Everything has been answered: further messages are taken and nothing comes of them. */
const silence = Cell.EMPTY;

/** Each response is `abort:Bool next:^Cell actions:^OutList`. */
export function scriptedData(responses: readonly Response[]): Cell {
  return responses.reduceRight((next, response) => {
    const isDestroyed = typeof response === 'object' && 'destroyed' in response;
    const messages = response === 'abort' ? [] : isDestroyed ? response.destroyed : response;
    const actions = messages.map((outMsg, at) => ({
      type: 'sendMsg' as const,
      mode: isDestroyed && at === messages.length - 1 ? DESTROY : PAY_GAS,
      outMsg,
    }));
    return beginCell()
      .storeBit(response === 'abort')
      .storeRef(next)
      .storeRef(beginCell().store(storeOutList(actions)))
      .endCell();
  }, silence);
}

/**
 * `PUSHCTR c4; CTOS; DUP; SREFS; IFNOTRET` for silence, else `LDU 1; SWAP; THROWIF 50; LDREF; LDREF; DROP; POPCTR c5; POPCTR c4`: the response's
 * actions become the transaction's.
 */
const respond = Buffer.from('ED44D020D74ADDD30001F272D4D430ED55ED54', 'hex');

/** `DUP; SEMPTY; IFRET` on the message's body. */
const returnWithoutBody = Buffer.from('20C700DC', 'hex');

/** Takes every message and does nothing, whatever its data is. */
const ignore = Buffer.alloc(0);

/** Of a contract that answers messages by its data. */
export function scriptedCode(methods: Methods = {}): Cell {
  return codeOf({ onMessage: respond, onTick: ignore }, methods);
}

/** As `scriptedCode`, of a stand-in for the elector: the chain sends it what blocks earned, without a body, in every masterchain block. */
export function electorCode(methods: Methods): Cell {
  return codeOf({ onMessage: Buffer.concat([returnWithoutBody, respond]), onTick: ignore }, methods);
}

/** Of a special contract that does what its data says at every tick of the chain. */
export function tickingCode(): Cell {
  return codeOf({ onMessage: ignore, onTick: respond }, {});
}

/** Of a contract that has methods and data of its own, and sends nothing. */
export function silentCode(methods: Methods): Cell {
  return codeOf({ onMessage: ignore, onTick: ignore }, methods);
}

function codeOf({ onMessage, onTick }: { onMessage: Buffer; onTick: Buffer }, methods: Methods): Cell {
  const table = Dictionary.empty(Dictionary.Keys.Int(19), {
    serialize: (code: Cell, builder) => void builder.storeSlice(code.beginParse(true)),
    parse: () => Cell.EMPTY,
  });
  table.set(RECV_INTERNAL, beginCell().storeBuffer(onMessage).endCell());
  table.set(RUN_TICKTOCK, beginCell().storeBuffer(onTick).endCell());
  for (const [name, method] of Object.entries(methods)) table.set(methodIdOf(name), methodCode(method));
  // SETCP0; DICTPUSHCONST 19; DICTIGETJMPZ; THROWARG 11: as compilers begin code that has get-methods.
  const prologue = Buffer.from('FF00F4A413F4BCF2C80B', 'hex');
  return beginCell().storeBuffer(prologue).storeRef(beginCell().storeDictDirect(table)).endCell();
}

/** References of a cell of code; the last one of four is where it goes on. */
const PUSHES_MAX = 3;

function methodCode({ takes = 0, gives }: Method): Cell {
  const drops = Buffer.alloc(takes, 0x30);
  const code = beginCell().storeBuffer(drops);
  for (const value of gives.slice(0, PUSHES_MAX)) pushValue(code, value);
  if (gives.length > PUSHES_MAX) code.storeRef(methodCode({ gives: gives.slice(PUSHES_MAX) }));
  return code.endCell();
}

function pushValue(code: ReturnType<typeof beginCell>, value: MethodValue): void {
  if (value instanceof Cell) {
    // PUSHREF
    code.storeUint(0x88, 8).storeRef(value);
  } else if (typeof value === 'bigint') {
    // PUSHREFSLICE; LDI 256; DROP
    code.storeUint(0x89d2ff30, 32).storeRef(beginCell().storeInt(value, 256));
  } else {
    // PUSHREFSLICE
    code.storeUint(0x89, 8).storeRef(beginCell().storeAddress(value));
  }
}
