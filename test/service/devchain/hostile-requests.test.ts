import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isRefusal } from '#service/devchain/chain/errors.ts';
import { createMessageInbox } from '#service/devchain/queries/message-queries.ts';
import { createMethodRunner } from '#service/devchain/queries/method-runner.ts';
import { answerQuery } from '#service/devchain/queries/queries.ts';
import { liteServerFunctions } from '#service/liteserver/function-table.ts';
import { chain } from './network.ts';
import { countOf } from '#test/support/volume.ts';

/** One seed, so that a failure comes again. */
const seed = 20_261_121;

const id32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

const methods = createMethodRunner();
await methods.ready();

/** True when the server answered or refused; anything else is thrown. */
function survives(request: Buffer): boolean {
  const view = { chain, tip: Math.ceil(chain.lastSeqno / 2), nowSeconds: 0 };
  try {
    return answerQuery(view, request, { inbox: createMessageInbox({ nowMs: () => 0 }), methods }).length >= 4;
  } catch (error) {
    if (isRefusal(error)) return true;
    throw error;
  }
}

describe('hostile requests', () => {
  it('of random bytes behind a known function are refused', () => {
    const request = fc
      .tuple(fc.constantFrom(...liteServerFunctions), fc.uint8Array({ maxLength: 200 }))
      .map(([fn, bytes]) => {
        const head = Buffer.alloc(4);
        head.writeUInt32LE(fn.id);
        return Buffer.concat([head, bytes]);
      });
    expect(() =>
      fc.assert(fc.property(request, survives), { seed, numRuns: countOf({ quick: 300, full: 2_000 }) }),
    ).not.toThrow();
  });

  it('about real blocks with senseless arguments are answered or refused', () => {
    const block = fc.oneof(
      fc.integer({ min: 1, max: chain.lastSeqno }).map((seqno) => chain.masterchain(seqno)!),
      fc
        .integer({ min: 1, max: chain.lastSeqno })
        .map((seqno) => chain.masterchain(seqno)!.shards)
        .filter((shards) => shards.length > 0)
        .map((shards) => chain.find(shards[0]!.block) ?? chain.masterchain(1)!),
    );
    const someId = fc.oneof(
      block.map(({ id }) => id),
      fc.constantFrom(...chain.zeroStates).map(({ id }) => id),
      fc.tuple(block, id32).map(([{ id }, rootHash]) => ({ ...id, rootHash })),
    );
    const int = fc.integer({ min: -0x80000000, max: 0x7fffffff });
    const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const shard = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const account = fc.record({ workchain: fc.oneof(fc.constantFrom(-1, 0), int), id: id32 });
    // Each function takes of these what it has, and a mode that governs no optional field or all of them.
    const args = fc.record({
      id: someId,
      knownBlock: someId,
      targetBlock: someId,
      mcBlockId: someId,
      account,
      workchain: fc.oneof(fc.constantFrom(-1, 0), int),
      shard,
      exact: fc.boolean(),
      lt: long,
      utime: fc.nat(),
      hash: id32,
      addr: id32,
      afterAddr: id32,
      startAfter: id32,
      modifiedAfter: fc.nat(),
      after: fc.record({ account: id32, lt: long }),
      afterLt: long,
      maxAccounts: int,
      maxMessages: int,
      limit: int,
      count: fc.nat({ max: 300 }),
      paramList: fc.array(int, { maxLength: 20 }),
      libraryList: fc.array(id32, { maxLength: 20 }),
      body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      methodId: long,
      params: fc.constant(Buffer.alloc(0)),
      mode: fc.nat({ max: 0xffff }),
    });
    const request = fc.tuple(fc.constantFrom(...liteServerFunctions), args).map(([fn, given]) => encode(fn, given));
    expect(() =>
      fc.assert(fc.property(request, survives), { seed, numRuns: countOf({ quick: 500, full: 3_000 }) }),
    ).not.toThrow();
  });
});

type AnyFunction = { readonly name: string; encode(args: never): Buffer };

/** The request; optional fields that the mode does not announce are left out. */
function encode(fn: AnyFunction, given: Record<string, unknown>): Buffer {
  const { id, mode, lt, utime, ...rest } = given as Record<string, unknown> & {
    mode: number;
    id: { workchain: number };
  };
  const at = (bit: number, fields: object): object => ((mode & (1 << bit)) === 0 ? {} : fields);
  const place = fn.name.startsWith('lookupBlock');
  const optional = ['targetBlock', 'startAfter', 'modifiedAfter', 'after', 'afterAddr', 'workchain', 'shard'];
  const always = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !optional.includes(name) || fn.name === 'getShardInfo'),
  );
  const byFunction: Record<string, object> = {
    getBlockProof: at(0, { targetBlock: given['targetBlock'] }),
    getValidatorStats: {
      ...at(0, { startAfter: given['startAfter'] }),
      ...at(2, { modifiedAfter: given['modifiedAfter'] }),
    },
    listBlockTransactions: at(7, { after: given['after'] }),
    listBlockTransactionsExt: at(7, { after: given['after'] }),
    getDispatchQueueInfo: at(1, { afterAddr: given['afterAddr'] }),
    getOutMsgQueueSizes: at(0, { workchain: given['workchain'], shard: given['shard'] }),
    'nonfinal.getPendingShardBlocks': at(0, { workchain: given['workchain'], shard: given['shard'] }),
  };
  const lookup = place ? { ...at(1, { lt }), ...at(2, { utime }) } : { lt };
  return fn.encode({ ...always, id, mode, ...lookup, ...byFunction[fn.name] } as never);
}
