import { setTimeout as sleep } from 'node:timers/promises';

import { Address, beginCell, Cell, external, loadMessage, SendMode, storeMessage } from '@ton/core';
import { keyPairFromSeed } from '@ton/crypto';
import { WalletContractV4, WalletContractV5R1 } from '@ton/ton';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { readExternalMessage, type ExternalMessage } from '#service/live/send/external-message.ts';
import type { IndexedTrace, PendingTrace } from '#service/pending/pending.ts';
import { EXPIRY_MS, KEPT_MS, SKEW_SECONDS } from '#service/pending/watch-list.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { classified, pathOf, startPendingNetwork, whole, type PendingNetwork } from './pending-under-test.ts';

let setting: PendingNetwork;

beforeEach(async () => {
  setting = await startPendingNetwork();
});
afterEach(() => setting.close());

const receiver = Address.parseRaw(`0:${'7'.repeat(64)}`);
const VALUE = 1_000_000_000n;

const accountOf = (address: Address) => ({ workchain: address.workChain, id: address.hash });

const texts = (accounts: readonly Address[]) => accounts.map((account) => account.hash.toString('hex'));

describe('a message that was sent', () => {
  it('is simulated as a whole trace, found by accounts and by every hash of it', async () => {
    const { faucet } = setting;
    const pending = setting.open();
    const message = await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE), transfer(receiver, 2n)]));
    const [trace, ...more] = await pending.find({ accounts: [accountOf(receiver)] });
    expect(more).toEqual([]);
    expect(pathOf(trace!)).toEqual([faucet.id, receiver.hash, receiver.hash].map((id) => id.toString('hex')));
    expect(trace).toMatchObject({ key: message.normalizedHash, messageHash: message.hash, left: 0 });
    for (const hash of [message.normalizedHash, message.hash, trace!.rootHash]) {
      expect(await pending.find({ hashes: [hash] })).toEqual([trace]);
    }
    expect(await pending.find({ accounts: [accountOf(faucet.address)] })).toEqual([trace]);
    expect(await pending.find({ hashes: [Buffer.alloc(32, 1)] })).toEqual([]);
  });

  it('has the states that its transactions lead to', async () => {
    const { faucet } = setting;
    const pending = setting.open();
    await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE)]));
    const [trace] = await pending.find({ accounts: [accountOf(receiver)] });
    const [, received] = trace!.transactions.map(({ boc }) => {
      const table = parseBoc(boc);
      return readTransaction(table, table.roots[0]!);
    });
    const stateOf = (hash: Buffer) => trace!.states.find((state) => state.hash.equals(hash));
    expect(stateOf(received!.stateUpdate.oldHash)).toMatchObject({ balance: 0n, status: 'nonexist' });
    expect(stateOf(received!.stateUpdate.newHash)).toMatchObject({ balance: VALUE, status: 'uninit' });
  });

  it('is there until the index has it', async () => {
    const { faucet, index } = setting;
    const pending = setting.open();
    const { hash, normalizedHash } = await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE)]));
    await setting.step();
    await pending.refresh();
    // In a block, not indexed yet: it is still shown, and not taken for a conflict.
    expect(await pending.find({ hashes: [hash] })).toHaveLength(1);
    index.taken.set(normalizedHash.toString('hex'), whole);
    index.seqno = setting.network.head().id.seqno;
    await pending.refresh();
    // The real transactions are there to be read, their actions are not.
    expect(await pending.find({ hashes: [hash] })).toMatchObject([{ transactions: [] }]);
    expect(await pending.find({ hashes: [hash], wanted: 'actions' })).toHaveLength(1);
    index.taken.set(normalizedHash.toString('hex'), classified);
    expect(await pending.find({ hashes: [hash] })).toEqual([]);
    expect(await pending.find({ hashes: [hash], wanted: 'actions' })).toEqual([]);
    await pending.refresh();
    expect(await reasons(pending)).toEqual({ indexed: 1 });
  });

  it('keeps the transactions that are still to come when the index has begun with it', async () => {
    const { faucet, index } = setting;
    const pending = setting.open();
    const other = Address.parseRaw(`0:${'8'.repeat(64)}`);
    const messages = [transfer(receiver, VALUE), transfer(other, VALUE), transfer(receiver, 2n)];
    const { hash, normalizedHash } = await setting.send(pending, faucet.send(0, messages));
    const accountsIn = async (accounts: readonly Address[]) => {
      const happened = accounts.map((account) => account.toRawString());
      index.taken.set(normalizedHash.toString('hex'), { isClassified: false, accounts: happened });
      const [trace] = await pending.find({ hashes: [hash] });
      return trace && pathOf(trace);
    };
    expect(await accountsIn([faucet.address])).toEqual(texts([receiver, other, receiver]));
    expect(await accountsIn([faucet.address, receiver])).toEqual(texts([other, receiver]));
    expect(await accountsIn([faucet.address, receiver, other, receiver])).toEqual([]);
    expect(await pending.find({ hashes: [hash], wanted: 'actions' })).toHaveLength(1);
  });

  it('says which of its transactions the index has while its actions are wanted', async () => {
    const { faucet, index } = setting;
    const pending = setting.open();
    const messages = [transfer(receiver, VALUE), transfer(receiver, 2n)];
    const { hash, normalizedHash } = await setting.send(pending, faucet.send(0, messages));
    const marks = async (): Promise<unknown[]> => {
      const [trace] = await pending.find({ hashes: [hash], wanted: 'actions' });
      return trace!.transactions.map(({ isIndexed = false }) => isIndexed);
    };
    const indexed = (accounts: IndexedTrace['accounts']) =>
      index.taken.set(normalizedHash.toString('hex'), { isClassified: false, accounts });
    expect(await marks()).toEqual([false, false, false]);
    indexed([faucet.address, receiver].map((account) => account.toRawString()));
    expect(await marks()).toEqual([true, true, false]);
    indexed(undefined);
    expect(await marks()).toEqual([true, true, true]);
  });

  it('goes when a block takes another message in its place', async () => {
    const { faucet, index, network } = setting;
    const pending = setting.open();
    // The same seqno twice: the wallet takes one of them.
    const { hash } = await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE)]));
    network.send(faucet.send(0, [transfer(receiver, 5n)]));
    await setting.step();
    await setting.step();
    await pending.refresh();
    expect(await pending.find({ hashes: [hash] })).toHaveLength(1);
    index.seqno = setting.pool.head()!.block.seqno;
    await pending.refresh();
    expect(await pending.find({ hashes: [hash] })).toEqual([]);
    expect(await reasons(pending)).toEqual({ conflict: 1 });
  });

  it('is run again when a block changed one of its accounts', async () => {
    const { faucet, network } = setting;
    const other = testWallet(Buffer.alloc(32, 9));
    network.send(faucet.send(0, [transfer(other.address, VALUE)]));
    await setting.step();
    await setting.step();
    const pending = setting.open();
    // A lite server has it and no block takes it: the test keeps it from the network.
    const message = readExternalMessage(other.send(0, [transfer(receiver, VALUE / 2n)], { deploy: true }));
    pending.note(message, {});
    await pending.refresh();
    const [{ rootHash }] = (await pending.find({ hashes: [message.hash] })) as [PendingTrace];
    const mostMoney = async (): Promise<bigint> => {
      const [trace] = await pending.find({ hashes: [message.hash] });
      return trace!.states.reduce((most, { balance }) => (balance > most ? balance : most), 0n);
    };
    expect(await mostMoney()).toBe(VALUE);
    network.send(faucet.send(1, [transfer(receiver, 3n * VALUE)]));
    await setting.step();
    await setting.step();
    await pending.refresh();
    // Less what it costs to be stored between the two.
    expect(await mostMoney()).toBeGreaterThan(3n * VALUE + VALUE / 2n - 100n);
    // The simulated hash of its first transaction is another now. The hash of before finds the trace, too.
    const [again] = await pending.find({ hashes: [rootHash] });
    expect(again!.key).toEqual(message.normalizedHash);
    expect(again!.rootHash).not.toEqual(rootHash);
  });

  it('goes when it is too old', async () => {
    const { faucet, clock } = setting;
    const pending = setting.open();
    const { hash } = await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE)]));
    clock.unixMs += KEPT_MS - 1;
    expect(await pending.find({ hashes: [hash] })).toHaveLength(1);
    clock.unixMs += 1;
    expect(await pending.find({ hashes: [hash] })).toEqual([]);
    await pending.refresh();
    expect(await reasons(pending)).toEqual({ expired: 1 });
  });

  it('expires when the index passes the first head after a minute without it', async () => {
    const { faucet, clock, index } = setting;
    const pending = setting.open();
    const { hash, normalizedHash } = await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE)]));
    const { seqno } = setting.pool.head()!.block;
    index.seqno = seqno;
    clock.unixMs += EXPIRY_MS - 1;
    await pending.refresh();
    expect(await pending.find({ hashes: [hash] })).toHaveLength(1);
    // The index is behind: a block that it lacks may have the message.
    index.seqno = seqno - 1;
    clock.unixMs += 1;
    await pending.refresh();
    expect(await reasons(pending)).toEqual({});
    index.taken.set(normalizedHash.toString('hex'), whole);
    index.seqno = seqno;
    await pending.refresh();
    expect(await reasons(pending)).toEqual({});
    index.taken.clear();
    await pending.refresh();
    expect(await pending.find({ hashes: [hash] })).toEqual([]);
    expect(await reasons(pending)).toEqual({ expired: 1 });
  });

  it('that expires while a slow Redis takes its trace is gone for listeners, and its trace does not come after that', async () => {
    const { faucet, clock } = setting;
    const writing = Promise.withResolvers<void>();
    let redis = writing.promise;
    let asked = 0;
    const pending = setting.open({
      async ask() {
        asked++;
        await redis;
        return undefined;
      },
      close: () => undefined,
    });
    const news: string[] = [];
    pending.listen(({ kind }) => news.push(kind));
    const message = readExternalMessage(faucet.send(0, [transfer(receiver, VALUE)]));
    pending.note(message, {});
    // The message is one thing to write. The places of the trace follow at once.
    await expect.poll(() => asked).toBeGreaterThan(2);
    redis = Promise.resolve();
    clock.unixMs += KEPT_MS;
    const refreshed = pending.refresh();
    await expect.poll(() => news).toEqual(['gone']);
    writing.resolve();
    await refreshed;
    expect(news).toEqual(['gone']);
  });

  it.each(['v4', 'v5'] as const)(
    'to a wallet %s expires when the index has passed the time until which it is valid',
    async (version) => {
      const { index, network } = setting;
      const { pending, validUntil } = await sendTimed(version);
      network.setNextUtime(validUntil + SKEW_SECONDS);
      await setting.step();
      index.seqno = network.head().id.seqno;
      await pending.refresh();
      expect(await reasons(pending)).toEqual({});
      network.setNextUtime(validUntil + SKEW_SECONDS + 1);
      await setting.step();
      await pending.refresh();
      expect(await reasons(pending)).toEqual({});
      index.seqno = network.head().id.seqno;
      await pending.refresh();
      expect(await reasons(pending)).toEqual({ expired: 1 });
    },
  );

  it('that the contract refuses because of its time expires, also when its account changes', async () => {
    const { faucet, index, network } = setting;
    const { pending, validUntil, address } = await sendTimed('v4');
    for (const [at, utime] of [validUntil + 1, validUntil + SKEW_SECONDS + 1].entries()) {
      expect(await reasons(pending)).toEqual({});
      network.send(faucet.send(1 + at, [transfer(address, VALUE)]));
      network.setNextUtime(utime - 1);
      await setting.step();
      network.setNextUtime(utime);
      await setting.step();
      await pending.refresh();
      index.seqno = network.head().id.seqno;
      await pending.refresh();
    }
    expect(await reasons(pending)).toEqual({ expired: 1 });
  });

  it('is watched once, however often it is sent', async () => {
    const { faucet } = setting;
    const pending = setting.open();
    const message = await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE)]));
    const { hash } = message;
    pending.note(message, {});
    expect(await pending.find({ hashes: [hash] })).toHaveLength(1);
    expect(await valueOf(pending, 'ton_pending_messages')).toBe(1);
  });

  it('is one with all others that are the same but for what a sender may choose', async () => {
    const { faucet } = setting;
    const pending = setting.open();
    const sent = faucet.send(0, [transfer(receiver, VALUE)]);
    const [early, late] = [1n, 2n].map((importFee) => spelt(sent, importFee));
    pending.note(readExternalMessage(sent), {});
    pending.note(early!, {});
    await pending.refresh();
    pending.note(late!, {});
    for (const { hash, normalizedHash } of [early!, late!]) {
      const [trace] = await pending.find({ hashes: [hash] });
      expect(trace!.key).toEqual(normalizedHash);
      expect(trace!.messageHash).not.toEqual(hash);
    }
    expect(await valueOf(pending, 'ton_pending_messages')).toBe(1);
  });

  it('is found among however many hashes nobody knows', async () => {
    const { faucet } = setting;
    const pending = setting.open();
    const { hash } = await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE)]));
    const unknown = Array.from({ length: 250 }, (_unused, at) => Buffer.alloc(32, at + 1));
    expect(await pending.find({ hashes: [hash, ...unknown] })).toHaveLength(1);
  });

  it('is run again at a newer head when the first one was older than what the lite server knew', async () => {
    const { faucet, network, index } = setting;
    const pending = setting.open();
    const message = readExternalMessage(faucet.send(1, [transfer(receiver, VALUE)]));
    pending.note(message, {});
    await pending.refresh();
    index.seqno = setting.pool.head()!.block.seqno;
    network.send(faucet.send(0, [transfer(receiver, 2n)]));
    await setting.step();
    await setting.step();
    await pending.refresh();
    await pending.refresh();
    expect(await pending.find({ hashes: [message.hash] })).toHaveLength(1);
    expect(await reasons(pending)).toEqual({});
  });

  it('is looked at again without a wait for messages that are sent meanwhile', async () => {
    const { faucet, simulations } = setting;
    const pending = setting.open();
    const note = (number: number): void =>
      pending.note(readExternalMessage(faucet.send(number, [transfer(receiver, VALUE)])), {});
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    simulations.gate = first.promise;
    note(0);
    const look = pending.refresh().then(() => 'ended');
    // The look reads the index in memory, then it waits for the first message.
    await sleep(100);
    simulations.gate = second.promise;
    note(1);
    // The look added a second run of the first message.
    simulations.gate = Promise.resolve();
    first.resolve();
    try {
      expect(await Promise.race([look, sleep(60_000, 'waits for all')])).toBe('ended');
      expect(await pending.find({ accounts: [accountOf(receiver)] })).toHaveLength(1);
    } finally {
      second.resolve();
    }
  });

  it('that the contract would refuse is not shown, and goes when the index is past it', async () => {
    const { faucet, index } = setting;
    const pending = setting.open();
    const refused = faucet.send(7, [transfer(receiver, VALUE)]);
    pending.note(readExternalMessage(refused), {});
    await pending.refresh();
    expect(await pending.find({ accounts: [accountOf(receiver)] })).toEqual([]);
    index.seqno = 1_000;
    await pending.refresh();
    expect(await reasons(pending)).toEqual({});
    await setting.step();
    await pending.refresh();
    await pending.refresh();
    expect(await reasons(pending)).toEqual({ conflict: 1 });
  });

  it('does not stop what is watched when the index or a lite server is away', async () => {
    const { faucet, index } = setting;
    const pending = setting.open();
    const { hash } = await setting.send(pending, faucet.send(0, [transfer(receiver, VALUE)]));
    index.broken = true;
    await pending.refresh();
    index.broken = false;
    expect(await pending.find({ hashes: [hash] })).toHaveLength(1);
  });
});

/** Sends a message that is valid for 20 s to a wallet with money, and waits until it is shown. */
async function sendTimed(version: 'v4' | 'v5') {
  const { faucet, network } = setting;
  const wallet = timedWallet(version);
  network.send(faucet.send(0, [transfer(wallet.address, VALUE)], { deploy: true }));
  await setting.step();
  await setting.step();
  const validUntil = network.utime() + 20;
  const pending = setting.open();
  const message = readExternalMessage(wallet.send(validUntil));
  pending.note(message, {});
  await pending.refresh();
  expect(await pending.find({ hashes: [message.hash] })).toHaveLength(1);
  return { pending, validUntil, address: wallet.address };
}

/** A wallet whose messages deploy it, and are valid for a time. */
function timedWallet(version: 'v4' | 'v5') {
  const { publicKey, secretKey } = keyPairFromSeed(Buffer.alloc(32, 5));
  const sendMode = SendMode.PAY_GAS_SEPARATELY + SendMode.IGNORE_ERRORS;
  const v4 = WalletContractV4.create({ workchain: 0, publicKey });
  const v5 = WalletContractV5R1.create({ workchain: 0, publicKey });
  const { address, init } = version === 'v4' ? v4 : v5;
  return {
    address,
    send(timeout: number): Buffer {
      const wish = { seqno: 0, secretKey, timeout, sendMode, messages: [transfer(receiver, 2n)] };
      const body = version === 'v4' ? v4.createTransfer(wish) : v5.createTransfer(wish);
      return beginCell()
        .store(storeMessage(external({ to: address, init, body })))
        .endCell()
        .toBoc();
    },
  };
}

/** A message as another sender would spell it. */
function spelt(message: Buffer, importFee: bigint): ExternalMessage {
  const { info, ...rest } = loadMessage(Cell.fromBoc(message)[0]!.beginParse());
  if (info.type !== 'external-in') throw new Error('the message is not from outside');
  const cell = beginCell().store(storeMessage({ ...rest, info: { ...info, importFee } }));
  return readExternalMessage(cell.endCell().toBoc());
}

type Watching = { readonly register: { getMetricsAsJSON(): Promise<unknown> } };

async function samples(pending: Watching, name: string): Promise<{ labels: Record<string, string>; value: number }[]> {
  const metrics = (await pending.register.getMetricsAsJSON()) as { name: string; values: never }[];
  return metrics.find((metric) => metric.name === name)?.values ?? [];
}

async function valueOf(pending: Watching, name: string): Promise<number | undefined> {
  return (await samples(pending, name))[0]?.value;
}

async function reasons(pending: Watching): Promise<Record<string, number>> {
  const found = await samples(pending, 'ton_pending_gone_total');
  return Object.fromEntries(found.map(({ labels, value }) => [labels['reason']!, value]));
}
