import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import type { ProvedConfig } from '#service/proof/config-proof.ts';
import { readKeyBlockConfig, readStateConfig } from '#service/proof/config-proof.ts';
import { readSessionValidators } from '#service/proof/session-validators.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { checkSignatureSet } from '#service/proof/signatures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import type { Recording } from './recorded.ts';
import { recordings } from './recorded.ts';

const register = new Registry();
const checker = createSignatureChecker({ batchesMax: 4096 }, { register, logger: pino({ level: 'silent' }) });
afterAll(() => checker.close());

/** Walks the recorded masterchain from the zero state. Each block is signed by the validators of the previous key block. */
async function checkAll(recording: Recording): Promise<number> {
  const sets = new Map(recording.signatures().map((signed) => [signed.block.seqno, signed]));
  let config: ProvedConfig = zeroConfig(recording);
  let verified = 0;
  const checks: Promise<void>[] = [];
  for (const { id, boc } of recording.blocks()) {
    if (id.workchain !== MASTERCHAIN) continue;
    const table = parseBoc(boc);
    const cell = table.roots[0]!;
    const info = readBlockInfo(table, readBlock(table, cell).info);
    const signed = sets.get(id.seqno);
    if (signed !== undefined) {
      const validators = readSessionValidators(config, info.catchainSeqno);
      const session = { catchainSeqno: info.catchainSeqno, validatorSetHash: info.validatorListHashShort };
      checks.push(checker.check(checkSignatureSet(id, signed.set, validators, session)));
      verified++;
    }
    if (info.keyBlock) config = readKeyBlockConfig({ table, cell }, id);
  }
  await Promise.all(checks);
  return verified;
}

function zeroConfig({ zeroState, zeroStateBoc }: Recording): ProvedConfig {
  const table = parseBoc(zeroStateBoc);
  return readStateConfig({ table, cell: table.roots[0]! }, zeroState.rootHash);
}

describe.each(recordings())('Every recorded masterchain block is signed: $folder', (recording) => {
  const sets = recording.signatures();
  const missing = skipLoudly(sets.length === 0, { what: 'recorded signatures', why: `none in ${recording.folder}` });

  it.skipIf(missing)(`every recorded masterchain block is signed: ${sets.length} sets`, async () => {
    const masterchain = new Set(
      recording
        .blocks()
        .filter(({ id }) => id.workchain === MASTERCHAIN)
        .map(({ id }) => id.seqno),
    );
    const expected = sets.filter(({ block }) => masterchain.has(block.seqno)).length;
    await expect(checkAll(recording)).resolves.toBe(expected);
    expect(expected).toBeGreaterThan(0);
  });
});
