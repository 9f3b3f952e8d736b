import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import type { SourceBlock } from '#service/indexer/source.ts';
import { openBlockFile, type BlockFile } from '#service/live/blocks/block-files.ts';
import { StoreError } from '#service/store/errors.ts';
import type { Change, JettonChange, StateChange } from '#service/streaming/changes.ts';
import { createConfirmedSource } from '#service/streaming/confirmed/confirmed-source.ts';
import { openSeenBlock } from '#service/streaming/confirmed/seen-block.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { account, hash, trace } from '../hub/hub-under-test.ts';

const [recordingDir] = recordingDirs();
const missing = skipLoudly(recordingDir === undefined, { what: 'a replaced block', why: 'no recorded network' });

const open = ({ id, boc }: SourceBlock): BlockFile => openBlockFile(id, { id, data: boc } as never);

const beginsTrace = (one: SourceBlock): boolean =>
  openSeenBlock(open(one)).transactions.some(({ root }) => root !== null);

const unused = async (): Promise<never> => Promise.reject(new Error('nothing is read'));

describe('the source of signed blocks', () => {
  it('asks no lite server while it is off, and asks at once when it is on again', async () => {
    let [isOn, asked] = [false, 0];
    const source = createConfirmedSource(
      { everyMs: 0, isOn: () => isOn },
      {
        files: { head: () => undefined, masterchainBlock: unused, readFile: unused, readGlobalVersion: unused },
        signed: {
          async list() {
            asked++;
            return [];
          },
          readFile: unused,
        },
        snapshots: { of: unused },
        corrections: unused,
        jettons: { of: unused, corrections: unused },
        findPending: unused,
        hub: { publish: unused, watchesConfirmed: () => true, wantsConfirmed: () => true },
        nowMs: () => 0,
        logger: pino({ level: 'silent' }),
      },
    );
    const look = async (): Promise<readonly unknown[]> => {
      await source.look();
      return [asked, source.isAvailable()];
    };
    expect(await look()).toEqual([0, false]);
    isOn = true;
    expect(await look()).toEqual([1, true]);
    isOn = false;
    expect(await look()).toEqual([1, false]);
    isOn = true;
    expect(await look()).toEqual([2, true]);
    await source.close();
  });

  it.skipIf(missing).each([
    ['the index is away', new StoreError('store_unavailable', 'the index is away')],
    ['the index has a row that cannot be read', new Error('no such form')],
  ])(
    'withdraws and corrects what a replaced block showed, also when lite servers are away and %s',
    async (_case, fault) => {
      const blocks = await recordedBlocks();
      const real = blocks[1]!.shards.find(({ id }) => id.workchain === 0)!;
      const other = blocks.slice(2).flatMap(({ shards }) => shards.filter(beginsTrace))[0]!;
      const lost: BlockId = { ...real.id, rootHash: Buffer.from(hash(7), 'hex') };
      const files = new Map(
        blocks
          .flatMap(({ masterchain, shards }) => [masterchain, ...shards])
          .map((one) => [one.id.rootHash.toString('hex'), one]),
      );
      const published: Change[] = [];
      const state = { head: 0, isAway: true, isSilent: false };
      const corrected: StateChange = {
        kind: 'state',
        account: account('A'),
        finality: 'finalized',
        position: null,
        state: { last_transaction_lt: null },
        isCorrection: true,
      };
      const wallet: JettonChange = {
        kind: 'jetton',
        accounts: [account('B')],
        finality: 'finalized',
        position: null,
        jetton: { last_transaction_lt: null },
        named: [],
        isCorrection: true,
      };
      const last = <T>(one: T): readonly T[] => {
        if (state.isAway) throw fault;
        return [one];
      };
      let nowMs = 0;
      let reads = 0;
      const source = createConfirmedSource(
        { everyMs: 0 },
        {
          files: {
            head: () => ({ seqno: blocks[state.head]!.mcSeqno, utime: 0 }),
            masterchainBlock: async (seqno) => blocks.find(({ mcSeqno }) => mcSeqno === seqno)!.masterchain.id,
            readFile: async (id) => open(files.get(id.rootHash.toString('hex'))!),
            readGlobalVersion: async () => 0,
          },
          signed: {
            async list() {
              if (state.isSilent) throw new Error('no lite server answers');
              return state.head === 0 ? [lost] : [];
            },
            // The lite server has listed the block, and does not have it yet.
            readFile: async (id) => (reads++ === 0 ? undefined : { ...open(other), id }),
          },
          snapshots: { of: async ({ key }) => trace(key, { finality: 'confirmed' }) },
          corrections: async () => last<StateChange>(corrected),
          jettons: { of: async () => [], corrections: async () => last<JettonChange>(wallet) },
          findPending: async () => undefined,
          hub: {
            publish: async (changes) => void published.push(...changes),
            watchesConfirmed: () => true,
            wantsConfirmed: () => true,
          },
          nowMs: () => (nowMs += 60_000),
          logger: pino({ level: 'silent' }),
        },
      );
      await source.look();
      expect([source.isAvailable(), published]).toEqual([true, []]);
      await source.look();
      const keys = published.flatMap((one) => (one.kind === 'trace' ? one.key : []));
      expect(keys).not.toEqual([]);
      published.length = 0;
      [state.head, state.isSilent] = [1, true];
      await source.look();
      expect([source.isAvailable(), published]).toEqual([false, []]);
      state.isSilent = false;
      await source.look();
      expect(published).toEqual(keys.map((key) => ({ kind: 'invalidation', key, reason: 'replaced' })));
      published.length = 0;
      [state.head, state.isAway] = [2, false];
      await source.look();
      expect(published).toEqual([corrected, wallet]);
      await source.close();
    },
  );
});
