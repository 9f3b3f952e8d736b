import { describe, expect, it } from 'vitest';

import { refuseOtherChain } from '#service/indexer/same-chain.ts';
import { LiteServerError } from '#service/liteserver/errors.ts';

const { signal } = new AbortController();
const rootHash = Buffer.alloc(32, 1);
const indexed = { seqno: 120, rootHash };

/** A network whose block 120 has the hash, with its head at a seqno at first, and at another after a wait. */
function networkOf(hash: Buffer | LiteServerError, head: number, later = head) {
  let at = head;
  return {
    head: () => (at === 0 ? undefined : { seqno: at, utime: 0 }),
    waitHead: async () => void (at = later),
    async masterchainBlock(seqno: number) {
      if (hash instanceof Error) throw hash;
      return { workchain: -1, shard: 1n << 63n, seqno, rootHash: hash, fileHash: hash };
    },
  };
}

describe('the chain of an index', () => {
  it.each([
    ['an empty index', undefined, networkOf(Buffer.alloc(32, 2), 1)],
    ['the block of the network', indexed, networkOf(rootHash, 200)],
    ['a block that lite servers have a moment later', indexed, networkOf(rootHash, 0, 120)],
    [
      'a block that is too old for all lite servers',
      indexed,
      networkOf(new LiteServerError('pruned', { serverCode: 651, text: 'not in db', function: 'lookupBlock' }), 900),
    ],
  ])('passes %s', async (_name, newest, network) => {
    await expect(refuseOtherChain(async () => newest, network, signal, 1)).resolves.toBeUndefined();
  });

  it.each([
    ['another block of the same seqno', networkOf(Buffer.alloc(32, 2), 200), 'block 120 of the index is not block 120'],
    ['a network that ends before it', networkOf(rootHash, 100), 'the index is at block 120, the network at 100'],
  ])('refuses %s, and says what to do', async (_name, network, text) => {
    const refusal = refuseOtherChain(async () => indexed, network, signal, 1);
    await expect(refusal).rejects.toMatchObject({ code: 'other_chain', retryable: true });
    await expect(refusal).rejects.toThrow(text);
    await expect(refusal).rejects.toThrow('empty the index');
  });

  it('passes on the failure of a lite server that is away', async () => {
    const away = new LiteServerError('unreachable', { serverCode: undefined, text: 'away', function: 'lookupBlock' });
    await expect(refuseOtherChain(async () => indexed, networkOf(away, 200), signal, 1)).rejects.toBe(away);
  });
});
