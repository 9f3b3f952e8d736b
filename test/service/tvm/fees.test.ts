import { Address, Cell, beginCell, storeShardAccount } from '@ton/core';
import { afterAll, describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { FeesRequest, SourceFees } from '#service/tvm/fees.ts';
import { estimateFees, writeExternalMessage } from '#service/tvm/fees.ts';
import { NO_TRANSACTION, openShardAccount, writeShardAccount } from '#service/tvm/shard-account.ts';
import { startTvm, writeCell } from './recorded-world.ts';
import { smallConfig } from './small-world.ts';

const ID = Buffer.alloc(32, 7);
const UTIME = 1_800_000_000;
const TON = 10n ** 9n;

/** Returns an active account with this code, as `Account`. */
function accountOf(code: Cell, balance: bigint, duePayment: bigint | null = null): Buffer {
  const cell = beginCell().store(
    storeShardAccount({
      account: {
        addr: new Address(0, ID),
        storageStats: {
          used: { cells: 2n, bits: 100n },
          lastPaid: UTIME - 65_536,
          duePayment,
          storageExtra: null,
        },
        storage: {
          lastTransLt: 1000n,
          balance: { coins: balance },
          state: { type: 'active', state: { code, data: beginCell().endCell() } },
        },
      },
      lastTransactionHash: 1n,
      lastTransactionLt: 999n,
    }),
  );
  return cell.endCell().refs[0]!.toBoc();
}

function hex(text: string, ...refs: Cell[]): Cell {
  const builder = beginCell().storeBuffer(Buffer.from(text, 'hex'));
  for (const ref of refs) builder.storeRef(ref);
  return builder.endCell();
}

const { tvm } = startTvm();
afterAll(() => tvm.close());

function requestOf(code: Cell, rest: Partial<FeesRequest> = {}): FeesRequest {
  return {
    address: { workchain: 0, id: ID },
    account: accountOf(code, 10n ** 9n),
    body: writeCell(Buffer.from('0102', 'hex')),
    initCode: null,
    initData: null,
    ignoreSignature: false,
    config: smallConfig(),
    utime: UTIME,
    randSeed: Buffer.alloc(32),
    ...rest,
  };
}

function estimate(code: Cell, rest: Partial<FeesRequest> = {}): ReturnType<typeof estimateFees> {
  return estimateFees(tvm, requestOf(code, rest));
}

/** Fees in the emulated transaction of the same message on the same account; undefined when there is no transaction. */
async function charge(code: Cell, rest: Partial<FeesRequest> = {}): Promise<SourceFees | undefined> {
  const request = requestOf(code, rest);
  const account = request.account === null ? undefined : parseBoc(request.account);
  const known = account && { table: account, cell: account.roots[0]! };
  const result = await tvm.emulateTransaction({
    ...request,
    shardAccount: openShardAccount(writeShardAccount(known, NO_TRANSACTION)),
    message: await writeExternalMessage(request.address, request),
    lt: 1_000_000n,
  });
  if (result.kind === 'rejected') return undefined;
  const table = parseBoc(result.transaction);
  const { totalFees, descr } = readTransaction(table, table.roots[0]!);
  if (descr.kind !== 'ordinary' || descr.compute.kind !== 'vm') throw new Error('the contract did not run');
  const { storage, compute, action } = descr;
  const [storageFee, gasFee] = [storage!.feesCollected, compute.gasFees];
  return {
    inForwardFee: totalFees.grams - storageFee - gasFee - (action?.totalActionFees ?? 0n),
    storageFee,
    gasFee,
    forwardFee: action?.totalForwardFees ?? 0n,
  };
}

/** `ACCEPT`. */
const ACCEPT = 'f800';

/** Returns an internal message to an account in a workchain, with a body of two cells. */
function messageTo(workchain: number, value = 1n): Cell {
  const body = beginCell().storeUint(1, 32).storeRef(beginCell().storeUint(2, 64).endCell());
  return beginCell()
    .storeUint(0x18, 6)
    .storeAddress(new Address(workchain, ID))
    .storeCoins(value)
    .storeUint(0, 1 + 4 + 4 + 64 + 32)
    .storeUint(1, 2)
    .storeRef(body.endCell())
    .endCell();
}

/** `PUSHREF; PUSHINT 0; SENDRAWMSG`. */
const SEND = '8870fb00';

describe('fees', () => {
  it('the fees of an accepted message are its size, the storage and the gas', async () => {
    // ACCEPT takes 26 gas, the return 5: below the flat limit. The body is inside the message, which has no other cell.
    expect(await estimate(hex(ACCEPT))).toEqual({
      inForwardFee: 400_000n,
      storageFee: 2n * 500n + 100n,
      gasFee: 40_000n,
      forwardFee: 0n,
    });
  });

  it('a message that is not accepted has no gas fee', async () => {
    expect(await estimate(hex(''))).toMatchObject({ gasFee: 0n, forwardFee: 0n });
    expect(await estimate(hex('f22a'))).toMatchObject({ gasFee: 0n, forwardFee: 0n });
  });

  it('a contract that throws after it accepted has a gas fee and no forward fee', async () => {
    expect(await estimate(hex(`${ACCEPT}${SEND}f22a`, messageTo(0)))).toMatchObject({
      forwardFee: 0n,
      gasFee: 265_600n,
    });
  });

  it.each([
    ['the basechain', 0, 400_000n + (400n * 96n + 40_000n * 2n)],
    ['the masterchain', -1, 10_000_000n + (400n * 96n + 40_000n * 2n)],
  ])('the fee of a message to %s counts the cells below the message', async (_, workchain, fee) => {
    expect(await estimate(hex(`${ACCEPT}${SEND}`, messageTo(workchain)))).toMatchObject({ forwardFee: fee });
  });

  it('the fees count every message sent', async () => {
    const code = hex(`${ACCEPT}${SEND}${SEND}`, messageTo(0), messageTo(0));
    expect(await estimate(code)).toMatchObject({ forwardFee: 2n * (400_000n + 400n * 96n + 40_000n * 2n) });
  });

  it('the fees of a large account are estimated with other work between its cells', async () => {
    let row = Array.from({ length: 3000 }, (_, at) => beginCell().storeUint(at, 32).endCell());
    while (row.length > 1) {
      row = Array.from({ length: Math.ceil(row.length / 4) }, (_, at) =>
        row
          .slice(at * 4, at * 4 + 4)
          .reduce((above, cell) => above.storeRef(cell), beginCell())
          .endCell(),
      );
    }
    const code = hex(ACCEPT, row[0]!);
    let pauses = 0;
    const pause = () => {
      pauses++;
      return undefined;
    };
    expect(await estimate(code, { pause })).toEqual(await estimate(code));
    expect(pauses).toBeGreaterThan(4000);
  });

  it('the fees of a poor account are cut where its gas ends', async () => {
    const code = hex(`${ACCEPT}${SEND}`, messageTo(0));
    const poor = await estimate(code, { account: accountOf(code, 0n) });
    // ACCEPT alone exceeds the gas that a balance of 0 buys.
    expect(poor).toMatchObject({ gasFee: 40_000n, forwardFee: 0n });
    const enough = await estimate(code, { account: accountOf(code, 1_000_000n) });
    expect(enough).toMatchObject({ forwardFee: 400_000n + 400n * 96n + 40_000n * 2n });
  });

  it('the fees of an account to deploy include its state in the message', async () => {
    const initCode = hex(ACCEPT);
    const fees = await estimate(initCode, { account: null, initCode: initCode.toBoc(), initData: new Cell().toBoc() });
    expect(fees).toEqual({
      inForwardFee: 400_000n + 2n * 40_000n + 16n * 400n,
      storageFee: 0n,
      gasFee: 40_000n,
      forwardFee: 0n,
    });
  });

  it('the fees of an account without code are those of the message', async () => {
    expect(await estimate(hex(ACCEPT), { account: null })).toEqual({
      inForwardFee: 400_000n,
      storageFee: 0n,
      gasFee: 0n,
      forwardFee: 0n,
    });
  });

  it('the fees of a body that does not fit into the message count its cell', async () => {
    const body = beginCell().storeUint(1, 1000).endCell().toBoc();
    expect(await estimate(hex(ACCEPT), { body })).toMatchObject({ inForwardFee: 400_000n + 40_000n + 400_000n });
  });

  it('the fees depend on the signature unless it is ignored', async () => {
    // PUSHINT 0 (hash); PUSHREFSLICE (64 zero bytes); PUSHINT 1 (key); CHKSIGNU; THROWIFNOT 35; ACCEPT
    const signature = beginCell().storeBuffer(Buffer.alloc(64)).endCell();
    const code = hex(`708971f910f2a3${ACCEPT}`, signature);
    expect(await estimate(code)).toMatchObject({ gasFee: 0n });
    expect((await estimate(code, { ignoreSignature: true })).gasFee).toBeGreaterThan(0n);
  });

  it.each([
    // PUSHINT 21; PUSHCONT { NEWC; ENDC; PUSHINT 0; SENDRAWMSG }; REPEAT
    ['more than 20 actions', hex(`${ACCEPT}801595c8c970fb00e4`)],
    // NEWC; ENDC; PUSHINT 0; SENDRAWMSG
    ['a message that cannot be read', hex(`${ACCEPT}c8c970fb00`)],
    // PUSHREF; SETCODE
    ['an action that sets code', hex(`${ACCEPT}88fb04`, new Cell())],
  ])('fees are not estimated for %s', async (_, code) => {
    await expect(estimate(code)).rejects.toMatchObject({ code: 'fees_unsupported' });
  });

  it('fees are not estimated for a body that is no BoC', async () => {
    await expect(estimate(hex(ACCEPT), { body: Buffer.from('00ff', 'hex') })).rejects.toMatchObject({
      code: 'tvm_bad_request',
    });
  });
});

/** Returns an internal message whose body fits beside an empty sender. The chain puts the sender into the message. */
function fullMessage(): Cell {
  return beginCell()
    .storeUint(0x18, 6)
    .storeAddress(new Address(0, ID))
    .storeCoins(TON)
    .storeUint(0, 1 + 4 + 4 + 64 + 32)
    .storeUint(0, 2)
    .storeBuffer(Buffer.alloc(70))
    .endCell();
}

describe('fees beside those of the emulated transaction', () => {
  it.each([
    ['an accepted message', hex(ACCEPT)],
    ['a message to the basechain', hex(`${ACCEPT}${SEND}`, messageTo(0, TON))],
    ['a message to the masterchain', hex(`${ACCEPT}${SEND}`, messageTo(-1, TON))],
    ['two messages', hex(`${ACCEPT}${SEND}${SEND}`, messageTo(0, TON), messageTo(-1, TON))],
    ['a contract that throws after it accepted', hex(`${ACCEPT}${SEND}f22a`, messageTo(0))],
    ['a contract without end', hex(`${ACCEPT}90ea`)],
  ])('the estimate equals the fees of the emulation: %s', async (_, code) => {
    const rich = { account: accountOf(code, 100n * TON) };
    expect(await estimate(code, rich)).toEqual(await charge(code, rich));
  });

  it('a message that is not accepted has fees in the estimate and no transaction in the emulation', async () => {
    expect(await charge(hex('f22a'))).toBeUndefined();
    expect(await estimate(hex('f22a'))).toMatchObject({ inForwardFee: 400_000n, storageFee: 1100n });
  });

  it('the message of an account without money has fees in the estimate and no transaction in the emulation', async () => {
    const poor = { account: accountOf(hex(ACCEPT), 0n) };
    expect(await charge(hex(ACCEPT), poor)).toBeUndefined();
    expect(await estimate(hex(ACCEPT), poor)).toMatchObject({ inForwardFee: 400_000n, gasFee: 40_000n });
  });

  it('a state that is not the state of the address runs in the estimate and not in the emulation', async () => {
    const deployed = { account: null, initCode: hex(ACCEPT).toBoc(), initData: new Cell().toBoc() };
    expect(await charge(hex(ACCEPT), deployed)).toBeUndefined();
    expect(await estimate(hex(ACCEPT), deployed)).toMatchObject({ gasFee: 40_000n });
  });

  it('a message that the account cannot pay is charged in the estimate and not in the emulation', async () => {
    const code = hex(`${ACCEPT}${SEND}`, messageTo(0, 10n ** 12n));
    expect(await charge(code)).toMatchObject({ forwardFee: 0n });
    expect(await estimate(code)).toMatchObject({ forwardFee: 400_000n + 400n * 96n + 40_000n * 2n });
  });

  it('a body that the chain moves to a cell of its own costs a cell in the emulation and not in the estimate', async () => {
    const code = hex(`${ACCEPT}${SEND}`, fullMessage());
    const rich = { account: accountOf(code, 100n * TON) };
    expect(await charge(code, rich)).toMatchObject({ forwardFee: 400_000n + 400n * 560n + 40_000n });
    expect(await estimate(code, rich)).toMatchObject({ forwardFee: 400_000n });
  });

  it('storage that was due before is paid in the emulation and not in the estimate', async () => {
    const owing = { account: accountOf(hex(ACCEPT), 10n ** 9n, 7n) };
    expect(await charge(hex(ACCEPT), owing)).toMatchObject({ storageFee: 1107n });
    expect(await estimate(hex(ACCEPT), owing)).toMatchObject({ storageFee: 1100n });
  });
});
