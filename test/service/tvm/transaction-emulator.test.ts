import { Address, beginCell, Cell, loadTransaction, storeMessage, storeShardAccount } from '@ton/core';
import { afterAll, describe, expect, it } from 'vitest';
import { openShardAccount } from '#service/tvm/shard-account.ts';
import type { EmulationRequest } from '#service/tvm/tvm.ts';
import { startTvm } from './recorded-world.ts';
import { smallConfig } from './small-world.ts';

const address = new Address(0, Buffer.alloc(32, 7));
const config = smallConfig();
const utime = 1_800_000_000;

const library = beginCell().storeBuffer(Buffer.from('f20f', 'hex')).endCell();
const reference = beginCell().storeUint(2, 8).storeBuffer(library.hash()).endCell({ exotic: true });

/** Throws the seqno of the newest block. Exit code 7, a wrong type, when there are no blocks. */
const throwsSeqno = beginCell().storeBuffer(Buffer.from('f834006f106f12f2f0', 'hex')).endCell();
const noBlocks = 7;

function requestOf(code: Cell, rest: Partial<EmulationRequest> = {}): EmulationRequest {
  const account = beginCell()
    .store(
      storeShardAccount({
        account: {
          addr: address,
          storageStats: { used: { cells: 1n, bits: 1n }, storageExtra: null, lastPaid: utime, duePayment: null },
          storage: {
            lastTransLt: 0n,
            balance: { coins: 5_000_000_000n },
            state: { type: 'active', state: { code, data: Cell.EMPTY } },
          },
        },
        lastTransactionHash: 0n,
        lastTransactionLt: 0n,
      }),
    )
    .endCell();
  const message = beginCell()
    .store(
      storeMessage({
        info: {
          type: 'internal',
          ihrDisabled: true,
          bounce: false,
          bounced: false,
          src: new Address(0, Buffer.alloc(32, 8)),
          dest: address,
          value: { coins: 1_000_000_000n },
          ihrFee: 0n,
          forwardFee: 0n,
          createdLt: 5n,
          createdAt: 0,
        },
        body: Cell.EMPTY,
      }),
    )
    .endCell();
  return {
    config,
    utime,
    randSeed: Buffer.alloc(32),
    shardAccount: openShardAccount(account.toBoc()),
    message: message.toBoc(),
    lt: 1_000_000n,
    ...rest,
  };
}

const fetchLibrary = (): Promise<Buffer> => Promise.resolve(library.toBoc());

function blocksAt(seqno: number): NonNullable<EmulationRequest['previousBlocks']> {
  const id = { workchain: -1, shard: -(2n ** 63n), seqno, rootHash: Buffer.alloc(32), fileHash: Buffer.alloc(32) };
  return { last: [id], lastKeyBlock: id };
}

describe('a transaction after others of the same configuration', () => {
  const { tvm } = startTvm({ workers: 1 });
  afterAll(() => tvm.close());

  async function exitCodeOf(request: EmulationRequest): Promise<number | undefined> {
    const result = await tvm.emulateTransaction(request);
    if (result.kind !== 'transaction') throw new Error(result.error);
    const { description } = loadTransaction(Cell.fromBoc(result.transaction)[0]!.beginParse());
    if (description.type !== 'generic' || description.computePhase.type !== 'vm') throw new Error(description.type);
    return description.computePhase.exitCode;
  }

  it('a transaction without libraries does not see those of an earlier transaction', async () => {
    const found = await exitCodeOf(requestOf(reference, { fetchLibrary, previousBlocks: blocksAt(100) }));
    const missing = await exitCodeOf(requestOf(reference, { previousBlocks: blocksAt(99) }));
    const again = await exitCodeOf(requestOf(reference, { fetchLibrary, previousBlocks: blocksAt(100) }));
    expect([found, missing, again]).toEqual([15, 9, 15]);
  });

  it('a transaction sees the earlier blocks of its own request', async () => {
    const codes: (number | undefined)[] = [];
    for (const previousBlocks of [undefined, blocksAt(70), blocksAt(70), blocksAt(80), undefined, blocksAt(80)]) {
      codes.push(await exitCodeOf(requestOf(throwsSeqno, previousBlocks && { previousBlocks })));
    }
    expect(codes).toEqual([noBlocks, 70, 70, 80, noBlocks, 80]);
  });

  it('the earlier blocks of a refused message are not those of the next', async () => {
    const [first, second] = [blocksAt(70), blocksAt(80)];
    expect(await exitCodeOf(requestOf(throwsSeqno, { previousBlocks: first }))).toBe(70);
    const message = beginCell().storeUint(1, 1).endCell().toBoc();
    await tvm.emulateTransaction(requestOf(throwsSeqno, { previousBlocks: second, message })).catch(() => undefined);
    expect(await exitCodeOf(requestOf(throwsSeqno))).toBe(noBlocks);
    expect(await exitCodeOf(requestOf(throwsSeqno, { previousBlocks: first }))).toBe(70);
  });
});
