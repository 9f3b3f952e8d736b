import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { formatRawAddress } from '#service/decode/address.ts';
import type { Detector } from '#service/interfaces/detector.ts';
import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { createSimulatedDetection } from '#service/simulation/detection.ts';
import { TvmError } from '#service/tvm/errors.ts';

const [failing, sound] = ['1', '2'].map((digit) => `0:${digit.repeat(64)}`) as [string, string];

/** Detection over accounts without code. The detector fails on the first account. */
function detectionThatFails(failure: Error, { rejectsTimeouts = false } = {}) {
  const simulated = { readAccount: () => Promise.resolve({ code: null, codeHash: null }) };
  const snapshot = { ...simulated, withAccounts: () => simulated } as unknown as ChainSnapshot;
  const detector: Detector = {
    async detect(_, { account }) {
      if (account.id[0] === 0x11) throw failure;
      return { facts: {}, lastTransLt: 1n };
    },
  };
  return createSimulatedDetection({ after: new Map() }, { before: snapshot, detector, rejectsTimeouts });
}

describe('the kinds of accounts of a simulated trace', () => {
  it.each(['tvm_timeout', 'tvm_crashed', 'tvm_library_unavailable'] as const)(
    'leave out an account whose own code makes the virtual machine fail: %s',
    async (code) => {
      const detection = detectionThatFails(new TvmError(code, { detail: 'of the account' }));
      const found = await detection.detect([failing, sound]);
      expect([[...found.keys()], detection.isIncomplete]).toEqual([[sound], true]);
    },
  );

  it('are found by a single examination of each account, however often and at once it is named', async () => {
    const chain = { readAccount: () => Promise.resolve({ code: null, codeHash: null }) };
    const before = { ...chain, withAccounts: () => chain } as unknown as ChainSnapshot;
    const examined: string[] = [];
    const detector: Detector = {
      async detect(_, { account }) {
        examined.push(formatRawAddress(account));
        await turn();
        return { facts: {}, lastTransLt: 1n };
      },
    };
    const detection = createSimulatedDetection({ after: new Map() }, { before, detector });
    const [twice, once] = await Promise.all([detection.detect([failing, sound, failing]), detection.detect([sound])]);
    expect([[...twice.keys()], [...once.keys()]]).toEqual([[failing, sound], [sound]]);
    await detection.detect([failing]);
    expect(examined.toSorted()).toEqual([failing, sound]);
  });

  it('are unknown when time ends a run and may not shorten the answer', async () => {
    const failure = new TvmError('tvm_timeout', { detail: 'of the account' });
    const detection = detectionThatFails(failure, { rejectsTimeouts: true });
    await expect(detection.detect([failing, sound])).rejects.toBe(failure);
    expect(detection.isIncomplete).toBe(false);
  });

  it('are unknown when the virtual machine has no room', async () => {
    const detection = detectionThatFails(new TvmError('tvm_queue_full', { detail: 'calls wait' }));
    await expect(detection.detect([failing, sound])).rejects.toMatchObject({ code: 'tvm_queue_full' });
  });
});
