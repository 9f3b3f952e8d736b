import { Address } from '@ton/core';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import type { Pending, PendingNews } from '#service/pending/pending.ts';
import { KEPT_MS } from '#service/pending/watch-list.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { transfer } from '#test/support/wallet.ts';
import { classified, startPendingNetwork, type PendingNetwork } from './pending-under-test.ts';
import { openGoodLink } from './redis-under-test.ts';

const redisUrl = inject('redisUrl');

const receiver = Address.parseRaw(`0:${'6'.repeat(64)}`);

function hearing(pending: Pending): PendingNews[] {
  const news: PendingNews[] = [];
  pending.listen((one) => news.push(one));
  return news;
}

describe.skipIf(skipLoudly(redisUrl === undefined, { what: 'news of pending traces', why: 'there is no Redis' }))(
  'pods that listen to pending traces',
  () => {
    let setting: PendingNetwork;

    beforeEach(async () => {
      setting = await startPendingNetwork();
    });
    afterEach(() => setting.close());

    it('hear of traces of every pod once, and that they are gone', async () => {
      const one = setting.open(await openGoodLink(redisUrl!));
      const other = setting.open(await openGoodLink(redisUrl!));
      const [ofOne, ofOther] = [hearing(one), hearing(other)];
      await other.refresh();
      await one.refresh();
      const sent = await setting.send(one, setting.faucet.send(0, [transfer(receiver, 1_000_000_000n)]));
      const [trace] = await one.find({ hashes: [sent.hash] });
      await other.refresh();
      await one.refresh();
      expect(ofOne).toEqual([{ kind: 'trace', trace }]);
      expect(ofOther).toEqual([{ kind: 'trace', trace }]);
      setting.index.taken.set(sent.normalizedHash.toString('hex'), classified);
      await one.refresh();
      await other.refresh();
      const key = sent.normalizedHash.toString('hex');
      const gone = { kind: 'gone', key, reason: 'indexed', isTaken: true };
      expect(ofOne.slice(1)).toEqual([gone]);
      expect(ofOther.slice(1)).toEqual([gone]);
    });

    it('hear that a message has expired', async () => {
      const pending = setting.open(await openGoodLink(redisUrl!));
      const news = hearing(pending);
      const sent = await setting.send(pending, setting.faucet.send(0, [transfer(receiver, 1_000_000_000n)]));
      setting.clock.unixMs += KEPT_MS;
      await pending.refresh();
      const key = sent.normalizedHash.toString('hex');
      expect(news.slice(1)).toEqual([{ kind: 'gone', key, reason: 'expired', isTaken: false }]);
    });
  },
);
