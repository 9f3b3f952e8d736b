import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { getBlockOutMsgQueueSize } from '#service/liteserver/functions.ts';
import { checkQueueSize } from '#service/proof/queue-size-proof.ts';
import { prunedOf, rewrite } from './mutations.ts';
import { recordings } from './recorded.ts';

describe.each(recordings())('The length of a queue: $folder', ({ exchanges }) => {
  const { args, answer } = exchanges(getBlockOutMsgQueueSize).find((one) => one.answer.proof !== undefined)!;

  it('a length that the state does not have is refused', () => {
    expect(checkQueueSize({ block: args.id }, answer)).toBe(answer.size);
    expect(() => checkQueueSize({ block: args.id }, { ...answer, size: answer.size + 1n })).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'wrong_field' }),
    );
  });

  it('the length 0 is refused when the state does not count its queue, as old states do not', () => {
    const { rootHash, proof } = uncounted(answer.proof!);
    const id = { ...args.id, rootHash };
    expect(() => checkQueueSize({ block: id }, { ...answer, id, size: 0n, proof })).toThrow(
      expect.objectContaining({
        name: 'ProofError',
        code: 'wrong_field',
        message: expect.stringContaining('a counted queue') as unknown,
      }),
    );
  });
});

/** `OutMsgQueueInfo` of an empty queue without extra fields. */
const UNCOUNTED = { data: Buffer.alloc(9), bitLength: 67, refs: [] };

/** Returns the proof of a block after which the state does not count its queue. */
function uncounted(proof: Buffer): { readonly rootHash: Buffer; readonly proof: Buffer } {
  const [table, block, state] = openPair(proof);
  const { stateUpdate } = readBlock(table, block);
  const { outMsgQueueInfo } = readShardState(table, state);
  const changed = rewrite(proof, (cells) => Object.assign(cells[outMsgQueueInfo]!, UNCOUNTED) !== undefined)!;
  const [changedTable, , changedState] = openPair(changed);
  const forged = rewrite(proof, (cells) => {
    Object.assign(cells[outMsgQueueInfo]!, UNCOUNTED);
    cells[stateUpdate]!.refs[1] = prunedOf(changedTable, changedState);
    return true;
  })!;
  const [forgedTable, forgedBlock] = openPair(forged);
  return { rootHash: Buffer.from(forgedTable.hash(forgedBlock, 0)), proof: forged };
}

/** Returns the two cells that the roots of a proof stand for. */
function openPair(proof: Buffer): readonly [table: ReturnType<typeof parseBoc>, block: number, state: number] {
  const table = parseBoc(proof);
  const [block, state] = table.roots.map((root) => table.ref(root, 0));
  return [table, block!, state!];
}
