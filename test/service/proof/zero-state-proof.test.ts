import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { checkZeroState } from '#service/proof/zero-state-proof.ts';
import { readRecording, readZeroStates } from '../indexer/recording.ts';

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

const check = (expected: BlockId, data: Buffer, id = expected): unknown =>
  checkZeroState({ block: expected }, { id, data });

describe('the file of a zero state', () => {
  let [masterchain, basechain]: { readonly id: BlockId; readonly boc: Buffer }[] = [];
  let block: Buffer;

  beforeAll(async () => {
    [masterchain, basechain] = (await readZeroStates()).map(({ id, boc }) => ({ id, boc: Buffer.from(boc) }));
    block = (await readRecording())[0]!.bytes;
  });

  it('the file of a zero state is accepted by both of its hashes', () => {
    for (const { id, boc } of [masterchain!, basechain!]) expect(check(id, boc)).toMatchObject({ cell: 0 });
  });

  it('the file of another zero state is refused', () => {
    expect(() => check(masterchain!.id, basechain!.boc, basechain!.id)).toThrow(
      expect.objectContaining({ code: 'wrong_id' }),
    );
  });

  it('the file of a zero state is refused with another hash, of the file or of its root', () => {
    const { id, boc } = masterchain!;
    const changed = Buffer.from(boc);
    changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
    const other = { ...id, fileHash: sha256(basechain!.boc) };
    const mismatch = expect.objectContaining({ code: 'hash_mismatch' }) as unknown;
    expect(() => check(id, changed)).toThrow(mismatch);
    expect(() => check(other, basechain!.boc)).toThrow(mismatch);
  });

  it('the file is refused when it is the state of another chain, or no state', () => {
    const { id, boc } = masterchain!;
    const field = expect.objectContaining({ code: 'wrong_field' }) as unknown;
    expect(() => check({ ...id, workchain: 0 }, boc)).toThrow(field);
    expect(() => check({ ...id, seqno: 1 }, boc)).toThrow(field);
    const noState = { ...id, fileHash: sha256(block) };
    expect(() => check(noState, block)).toThrow(expect.objectContaining({ name: 'ProofError' }));
    expect(() => check({ ...id, fileHash: sha256(Buffer.from('no bag')) }, Buffer.from('no bag'))).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    );
  });
});
