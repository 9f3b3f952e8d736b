import { Address, beginCell, contractAddress, external, loadMessage, storeMessage, Cell } from '@ton/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { LiveAccount } from '#service/live/accounts/accounts.ts';
import type { ExternalMessage } from '#service/live/send/external-message.ts';
import { createLegacySend } from '#service/live/send/legacy-send.ts';
import { createLiveSend } from '#service/live/send/send.ts';
import { PoolError } from '#service/pool/errors.ts';
import type { PoolContext } from '#service/pool/reads.ts';
import { headOf } from '#test/support/bag-head.ts';

const code = beginCell().storeUint(1, 9).storeRef(beginCell().endCell()).endCell();
const data = beginCell().storeUint(5, 32).endCell();
const address = contractAddress(0, { code, data });
const account = { workchain: address.workChain, id: address.hash };
const context = { deadlineMs: Infinity, signal: new AbortController().signal };

/** Over a pool that takes every message, or answers each with an error. */
function startSending({
  state = 'uninitialized',
  refusal,
}: { state?: LiveAccount['state']; refusal?: Error | undefined } = {}) {
  const sent: Cell[] = [];
  const pool = {
    async broadcast(message: Buffer) {
      sent.push(Cell.fromBoc(message)[0]!);
      if (refusal !== undefined) throw refusal;
      return { liteServers: [2], known: false };
    },
  };
  const accounts = {
    readAccount: async () => ({ value: { state } as LiveAccount, liteServers: [1], cached: false }),
  };
  const told: Buffer[] = [];
  const onSent = ({ hash }: ExternalMessage): void => void told.push(hash);
  const send = createLiveSend({ pool, onSent });
  const legacy = createLegacySend({ pool, accounts, send, onSent, now: () => performance.now() });
  return { sent, told, legacy };
}

describe('a query', () => {
  const bags = { initCode: code.toBoc(), initData: data.toBoc() };
  const small = beginCell().storeUint(7, 32).endCell();
  const large = beginCell().storeBuffer(Buffer.alloc(120)).endCell();

  it.each([
    ['a body that fits', small, 'uninitialized', bags],
    ['a body that does not fit', large, 'uninitialized', bags],
    ['a state that the account has already', small, 'active', bags],
    ['no state', small, 'frozen', { initCode: null, initData: null }],
    ['a state without data', small, 'uninitialized', { initCode: code.toBoc(), initData: null }],
  ] as const)('with %s is read by other libraries as it was meant', async (_what, body, state, init) => {
    const { sent, told, legacy } = startSending({ state });
    const answer = await legacy.sendQuery({ account, body: body.toBoc(), ...init }, context);
    expect(answer.liteServers).toEqual([2]);
    expect(told).toEqual([answer.value.hash]);
    const [message] = sent;
    expect(answer.value.hash).toEqual(message!.hash());
    const isDeployed = state !== 'active' && init.initCode !== null;
    const { info, init: found, body: brought } = loadMessage(message!.beginParse());
    expect([info.type, String(info.dest)]).toEqual(['external-in', String(address)]);
    expect(brought.hash()).toEqual(body.hash());
    expect([found?.code?.hash(), found?.data?.hash()]).toEqual(
      isDeployed ? [code.hash(), init.initData === null ? undefined : data.hash()] : [undefined, undefined],
    );
  });

  it('of more cells than a message can have is refused before it is written', async () => {
    const { legacy, sent } = startSending();
    const { body, ...init } = { body: small.toBoc(), initCode: headOf(16_000), initData: headOf(385) };
    await expect(legacy.sendQuery({ account, body, ...init }, context)).rejects.toMatchObject({
      code: 'bad_message',
      message: expect.stringContaining('external message too large, rejecting'),
    });
    expect(sent).toEqual([]);
  });

  it('that the network refuses is refused', async () => {
    const { legacy, told } = startSending({ refusal: new PoolError('no_lite_server') });
    const query = { account, body: small.toBoc(), ...bags };
    await expect(legacy.sendQuery(query, context)).rejects.toMatchObject({ code: 'no_lite_server' });
    expect(told).toEqual([]);
  });
});

describe('a message that is sent again and again', () => {
  const message = beginCell()
    .store(storeMessage(external({ to: new Address(0, Buffer.alloc(32)), body: beginCell().endCell() })))
    .endCell();

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([undefined, new PoolError('deadline')])(
    'is sent every 5 seconds for a minute, answered with %s',
    async (refusal) => {
      const { sent, legacy } = startSending({ refusal });
      expect(legacy.sendRepeatedly(message.toBoc(), context).value.hash).toEqual(message.hash());
      expect(sent).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(30_001);
      expect(sent).toHaveLength(7);
      await vi.advanceTimersByTimeAsync(600_000);
      expect(sent).toHaveLength(12);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('goes each time where the plan of its caller allows, on its own time', async () => {
    const contexts: PoolContext[] = [];
    const pool = {
      async broadcast(_message: Buffer, given: PoolContext) {
        contexts.push(given);
        return { liteServers: [2], known: false };
      },
    };
    const legacy = createLegacySend({
      pool,
      accounts: { readAccount: () => Promise.reject(new Error('not asked')) },
      send: createLiveSend({ pool }),
      now: () => performance.now(),
    });
    const access = { liteServerTiers: ['shared'], archive: false };
    const request = new AbortController();
    legacy.sendRepeatedly(message.toBoc(), { ...context, signal: request.signal, access, caller: 'key one' });
    request.abort();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(contexts).toHaveLength(12);
    for (const given of contexts) {
      expect(given).toMatchObject({ access, caller: 'key one' });
      expect(given.signal).not.toBe(request.signal);
    }
  });

  it('is not sent any more once the pool is closed', async () => {
    const { sent, legacy } = startSending({ refusal: new PoolError('closed') });
    legacy.sendRepeatedly(message.toBoc(), context);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(sent).toHaveLength(1);
  });

  it('is refused while too many are being sent, and taken when some have ended', async () => {
    const { legacy } = startSending();
    for (let count = 0; count < 256; count++) legacy.sendRepeatedly(message.toBoc(), context);
    expect(() => legacy.sendRepeatedly(message.toBoc(), context)).toThrow(
      expect.objectContaining({ code: 'no_lite_server' }),
    );
    await vi.advanceTimersByTimeAsync(60_001);
    expect(() => legacy.sendRepeatedly(message.toBoc(), context)).not.toThrow();
  });

  it('a query that is no message is refused', () => {
    const { sent, legacy } = startSending();
    expect(() => legacy.sendRepeatedly(code.toBoc(), context)).toThrow(
      expect.objectContaining({ code: 'bad_message' }),
    );
    expect(sent).toEqual([]);
  });
});
