import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createProofMetrics } from '#service/proof/metrics.ts';
import { createProofChecks } from '#service/proof/proof.ts';

const block = { workchain: -1, shard: 1n << 63n, seqno: 5, rootHash: Buffer.alloc(32), fileHash: Buffer.alloc(32) };

describe('The checks', () => {
  it('are counted by kind and by what they were refused for, and timed', async () => {
    const register = new Registry();
    const checks = createProofChecks({ metrics: createProofMetrics(register) });
    expect(() => checks.blockHeader({ block }, { id: block, mode: 0, headerProof: Buffer.alloc(9) })).toThrow(
      'malformed',
    );
    expect(() =>
      checks.blockHeader({ block }, { id: { ...block, seqno: 6 }, mode: 0, headerProof: Buffer.alloc(0) }),
    ).toThrow('wrong_id');
    expect(checks.libraries({ hashes: [] }, [])).toEqual([]);
    const metrics = await register.metrics();
    expect(metrics).toContain('ton_proof_checks_total{kind="block_header",result="malformed"} 1');
    expect(metrics).toContain('ton_proof_checks_total{kind="block_header",result="wrong_id"} 1');
    expect(metrics).toContain('ton_proof_checks_total{kind="libraries",result="good"} 1');
    expect(metrics).toContain('ton_proof_duration_seconds_count{kind="block_header"} 2');
  });
});
