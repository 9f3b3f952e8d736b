import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { checkBlockHeader } from '#service/proof/header-proof.ts';
import { checkLibraries } from '#service/proof/library-proof.ts';
import { createProofMetrics } from '#service/proof/metrics.ts';

const block = { workchain: -1, shard: 1n << 63n, seqno: 5, rootHash: Buffer.alloc(32), fileHash: Buffer.alloc(32) };

describe('The checks', () => {
  it('checks are counted by kind and by the reason of refusal, and timed', async () => {
    const register = new Registry();
    const proofs = createProofMetrics(register);
    const header = { id: block, mode: 0, headerProof: Buffer.alloc(9) };
    const renamed = { ...header, id: { ...block, seqno: 6 } };
    await expect(proofs.measure('getBlockHeader', () => checkBlockHeader({ block }, header))).rejects.toThrow(
      'malformed',
    );
    await expect(proofs.measure('getBlockHeader', () => checkBlockHeader({ block }, renamed))).rejects.toThrow(
      'wrong_id',
    );
    await expect(
      proofs.measure('getLibraries', () => {
        throw new RangeError('a fault of the check');
      }),
    ).rejects.toThrow(RangeError);
    expect(await proofs.measure('getLibraries', () => checkLibraries({ hashes: [] }, []))).toEqual([]);
    const metrics = await register.metrics();
    expect(metrics).toContain('ton_proof_checks_total{kind="getBlockHeader",result="malformed"} 1');
    expect(metrics).toContain('ton_proof_checks_total{kind="getBlockHeader",result="wrong_id"} 1');
    expect(metrics).toContain('ton_proof_checks_total{kind="getLibraries",result="good"} 1');
    expect(metrics).toContain('ton_proof_checks_total{kind="getLibraries",result="failed"} 1');
    expect(metrics).toContain('ton_proof_duration_seconds_count{kind="getBlockHeader"} 2');
  });
});
