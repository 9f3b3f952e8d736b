import { Address, Cell, beginCell, storeShardAccount } from '@ton/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { FeesRequest } from '#service/tvm/fees.ts';
import { estimateFees } from '#service/tvm/fees.ts';
import { startTvm, writeCell } from './recorded-world.ts';
import { smallConfig } from './small-world.ts';

const ID = Buffer.alloc(32, 7);
const UTIME = 1_800_000_000;

/** Returns an active account with this code, as `Account`. */
function accountOf(code: Cell, balance: bigint): Buffer {
  const cell = beginCell().store(
    storeShardAccount({
      account: {
        addr: new Address(0, ID),
        storageStats: {
          used: { cells: 2n, bits: 100n },
          lastPaid: UTIME - 65_536,
          duePayment: null,
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

function estimate(code: Cell, rest: Partial<FeesRequest> = {}): ReturnType<typeof estimateFees> {
  return estimateFees(tvm, {
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
  });
}

/** `ACCEPT`. */
const ACCEPT = 'f800';

/** Returns an internal message to an account in a workchain, with a body of two cells. */
function messageTo(workchain: number): Cell {
  const body = beginCell().storeUint(1, 32).storeRef(beginCell().storeUint(2, 64).endCell());
  return beginCell()
    .storeUint(0x18, 6)
    .storeAddress(new Address(workchain, ID))
    .storeCoins(1)
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
