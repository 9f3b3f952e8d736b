import { randomBytes, randomUUID } from 'node:crypto';

import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import type { EncodedRecord } from '#service/streaming/levels/record-codec.ts';
import type { SharedLog } from '#service/streaming/levels/shared-log.ts';
import { collectGarbage } from '#test/support/garbage.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { openSharedLog } from './pods-under-test.ts';

const redisUrl = inject('redisUrl');

const missing = skipLoudly(redisUrl === undefined, { what: 'the log of levels in Redis', why: 'there is no Redis' });

/** A process that has read nothing. */
const nothing = { epoch: 0, newest: 0 };

const start = { log: '0-0', words: '0-0' };

function recordOf(name: string): EncodedRecord {
  const head = { kind: 'state', key: null, names: [], accounts: [name], finality: 'confirmed', position: null };
  const text = JSON.stringify({ head, behind: null });
  return {
    thing: `state:${name}`,
    level: name,
    print: name,
    isReset: false,
    withdraws: null,
    head: text,
    body: Buffer.from(name),
  };
}

/** Bytes of all buffers in use. */
function buffersInUse(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

function stepOf(level: string, print: string, isReset = false): EncodedRecord {
  return { ...recordOf('a'), thing: 'trace:1', level, print, isReset };
}

describe.skipIf(missing)('the log of levels in Redis', () => {
  let log: SharedLog;
  let client: Redis;
  let prefix: string;
  let scope: string;
  beforeEach(async () => {
    scope = randomUUID();
    prefix = `ton:levels:2:{${scope}}:`;
    log = await openSharedLog(redisUrl!, scope);
    client = new Redis(redisUrl!);
  });
  afterEach(async () => {
    log.close();
    await client.quit();
  });

  const numbers = async (): Promise<readonly number[]> =>
    (await log.read(start, false))!.records.map(({ record }) => record.number);

  it('refuses the newest content of a level again, until a withdrawal lets all levels of its thing come again', async () => {
    const steps = [
      { record: stepOf('pending', 'x'), number: 1, isNew: true },
      { record: stepOf('pending', 'x'), number: 1, isNew: false },
      { record: stepOf('confirmed', 'x'), number: 2, isNew: true },
      { record: stepOf('pending', 'y'), number: 3, isNew: true },
      { record: stepOf('pending', 'x'), number: 4, isNew: true },
      { record: stepOf('reset', 'expired', true), number: 5, isNew: true },
      { record: stepOf('reset', 'expired', true), number: 5, isNew: false },
      { record: stepOf('pending', 'x'), number: 6, isNew: true },
      { record: stepOf('confirmed', 'x'), number: 7, isNew: true },
      { record: stepOf('reset', 'expired', true), number: 8, isNew: true },
    ];
    for (const { record, number, isNew } of steps) {
      expect(await log.append(record, nothing)).toMatchObject({ number, isNew });
    }
  });

  it('refuses to withdraw a snapshot that is not the newest one of its trace and level', async () => {
    const { epoch } = (await log.append(stepOf('pending', 'x'), nothing))!;
    await log.append(stepOf('confirmed', 'x'), nothing);
    await log.append(stepOf('pending', 'y'), nothing);
    const withdrawn = (level: 'pending' | 'confirmed', number: number, of = epoch): EncodedRecord => ({
      ...stepOf('reset', 'expired', true),
      withdraws: { level, epoch: of, number },
    });
    for (const record of [withdrawn('pending', 1), withdrawn('confirmed', 3), withdrawn('pending', 3, epoch + 1)]) {
      expect(await log.append(record, nothing)).toMatchObject({ epoch, isNew: false, isOutdated: true });
    }
    expect(await numbers()).toEqual([1, 2, 3]);
    expect(await log.append(withdrawn('pending', 3), nothing)).toMatchObject({ number: 4, isNew: true });
    // Without a snapshot of its level there is none that a withdrawal could take back.
    await log.append(stepOf('confirmed', 'z'), nothing);
    expect(await log.append(withdrawn('pending', 3), nothing)).toMatchObject({ number: 6, isNew: true });
  });

  it('stays a day after its newest record, also where pods add records without a pause', async () => {
    await log.append(recordOf('a'), nothing);
    for (const key of ['log', 'data']) await client.pexpire(`${prefix}${key}`, 5_000);
    await log.append(recordOf('b'), nothing);
    for (const key of ['log', 'data']) expect(await client.pttl(`${prefix}${key}`)).toBeGreaterThan(5_000);
  });

  it.each(['log', 'data'])('is a new one when Redis has evicted its %s', async (key) => {
    const before = (await log.append(recordOf('a'), nothing))!;
    await client.del(`${prefix}${key}`);
    const after = (await log.append(recordOf('a'), nothing))!;
    expect(after).toMatchObject({ number: 1, isNew: true });
    expect(after.epoch).not.toBe(before.epoch);
    expect(await numbers()).toEqual([1]);
  });

  it('is a new one when it ends before a record that a pod has read: another Redis took over without it', async () => {
    const { epoch } = (await log.append(recordOf('a'), nothing))!;
    expect((await log.join({ epoch, newest: 1 }))!.epoch).toBe(epoch);
    expect((await log.join({ epoch: epoch + 1, newest: 2 }))!.epoch).toBe(epoch);
    const joined = (await log.join({ epoch, newest: 2 }))!;
    expect(joined).toMatchObject({ newest: 0 });
    expect(joined.epoch).not.toBe(epoch);
    const added = (await log.append(recordOf('b'), { epoch: joined.epoch, newest: 3 }))!;
    expect(added.epoch).not.toBe(joined.epoch);
    expect(added.number).toBe(1);
  });

  it('removes a record five minutes after the time in which cut connections resume', async () => {
    await log.join(nothing);
    const [seconds] = await client.time();
    const agedId = (minutes: number): string => `${(Number(seconds) - 60 * minutes) * 1000}-1`;
    for (const minutes of [14, 5]) await client.xadd(`${prefix}log`, agedId(minutes), 'garbage', '');
    await log.append(recordOf('a'), nothing);
    expect(await client.xlen(`${prefix}log`)).toBe(3);
    const short = await openSharedLog(redisUrl!, scope, () => 60_000);
    await short.append(recordOf('b'), nothing);
    expect(await client.xlen(`${prefix}log`)).toBe(3);
    short.close();
  });

  it('has records that take no more memory than their bytes, also between other buffers', async () => {
    const records: unknown[] = [];
    const place = { ...start };
    const before = buffersInUse();
    for (let number = 0; number < 200; number++) {
      await log.append({ ...recordOf(`record ${number}`), body: randomBytes(3_000) }, nothing);
      const found = (await log.read(place, false))!;
      records.push(...found.records);
      Object.assign(place, found.place);
      Buffer.from('x'.repeat(30_000));
    }
    expect(records).toHaveLength(200);
    await expect.poll(() => buffersInUse() - before).toBeLessThan(2 * 200 * 3_000);
    expect(records).toHaveLength(200);
  });

  it('removes entries of another writer like old records', async () => {
    await client.xadd(`${prefix}log`, '1-1', 'garbage', '');
    const { epoch } = (await log.join(nothing))!;
    for (const id of ['1-1', '1-2']) await client.xadd(`${prefix}log`, id, 'garbage', '');
    for (const name of ['a', 'b']) expect((await log.append(recordOf(name), nothing))!.epoch).toBe(epoch);
    expect(await numbers()).toEqual([1, 2]);
    expect(await client.xlen(`${prefix}log`)).toBe(2);
  });

  it.each(['log', 'data', 'words'])('is there again when another writer gave its %s another type', async (key) => {
    await log.append(recordOf('a'), nothing);
    await client.del(`${prefix}${key}`);
    await client.lpush(`${prefix}${key}`, 'garbage');
    await log.read(start, false);
    await log.join(nothing);
    expect(await log.read(start, false)).toBeDefined();
    await log.append(recordOf('b'), nothing);
    await log.say([{ kind: 'answer', name: 'name', since: 7 }]);
    const found = (await log.read(start, false))!;
    expect(found.records.at(-1)?.record.head.accounts).toEqual(['b']);
    expect(found.words).toEqual([{ kind: 'answer', name: 'name', since: 7 }]);
  });
});
