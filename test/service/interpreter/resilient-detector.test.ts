import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { createRetry } from '#service/runtime/retry.ts';
import type { ChangedAccount, Detected, Detector } from '#service/interfaces/detector.ts';
import { createResilientDetector } from '#service/interpreter/resilient-detector.ts';
import { isFinal, type Stage } from '#service/interpreter/retrying.ts';
import { answeredError } from '#service/liteserver/errors.ts';
import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { PoolError } from '#service/pool/errors.ts';

const changed: ChangedAccount = { account: { workchain: 0, id: Buffer.alloc(32, 1) }, codeHash: null, methods: null };
const pruned = answeredError('getAccountState', 651, 'block is not in db');

/** A finder over worlds that fail as they are told to: by seqno, undefined for the head. */
function finderOver(failureAt: (seqno: number | undefined, tries: number) => Error | undefined) {
  const opened: (number | undefined)[] = [];
  const counts = { fallbacks: 0, givenUp: 0 };
  const detector: Detector = {
    async detect(world) {
      await world.readAccount(changed.account);
      return { facts: {}, lastTransLt: 5n } satisfies Detected;
    },
  };
  const retry = createRetry<Stage>({
    logger: pino({ level: 'silent' }),
    random: () => 0,
    unixMs: () => 0,
    onFailure: () => undefined,
    isFinal,
  });
  const finder = createResilientDetector({
    worlds: {
      open(seqno) {
        opened.push(seqno);
        const failure = failureAt(seqno, opened.length);
        const readAccount = () => (failure === undefined ? Promise.resolve({}) : Promise.reject(failure));
        return Promise.resolve({ readAccount } as unknown as ChainSnapshot);
      },
    },
    detector,
    retry,
    now: () => performance.now(),
    onFallback: () => void counts.fallbacks++,
    onGivenUp: () => void counts.givenUp++,
  });
  return { opened, counts, find: () => finder.detect(7, changed, new AbortController().signal) };
}

describe('looking into an account at a block', () => {
  it('that no lite server keeps any more is done as of the head, after others were asked', async () => {
    const { opened, counts, find } = finderOver((seqno) => (seqno === undefined ? undefined : pruned));
    expect(await find()).toMatchObject({ lastTransLt: 5n });
    expect(opened).toEqual([7, 7, 7, undefined]);
    expect(counts).toEqual({ fallbacks: 1, givenUp: 0 });
  });

  it('goes on for as long as lite servers are away', async () => {
    const { opened, counts, find } = finderOver((_seqno, tries) =>
      tries <= 5 ? new PoolError('no_lite_server') : undefined,
    );
    expect(await find()).toMatchObject({ lastTransLt: 5n });
    expect(opened).toHaveLength(6);
    expect(counts).toEqual({ fallbacks: 0, givenUp: 0 });
  });

  it('is given up when it fails by itself', async () => {
    const { opened, counts, find } = finderOver(() => new TypeError('a defect'));
    expect(await find()).toBeUndefined();
    expect(opened).toHaveLength(3);
    expect(counts).toEqual({ fallbacks: 0, givenUp: 1 });
  });
});
