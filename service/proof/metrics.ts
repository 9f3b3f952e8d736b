import type { Registry } from 'prom-client';
import { Counter, Gauge, Histogram } from 'prom-client';
import { ProofError, ProofUnavailableError } from './errors.ts';

/** Counts and times checks. */
export type ProofMetrics = {
  /** Runs a check and counts it by its kind, which is the lite-server function of the answer. `result` is `good`, or the code of the error. */
  measure<T>(kind: string, check: () => T | Promise<T>): Promise<T>;
};

/**
 * Buckets in seconds: a header (0.1 ms), an account (0.3 ms), a long listing (5 ms). The last ones are for a block proof of sixteen links with a
 * hundred signatures each (0.8 s).
 */
const DURATION_BUCKETS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

export function createProofMetrics(register: Registry): ProofMetrics {
  const checks = new Counter({
    name: 'ton_proof_checks_total',
    help: 'Answers checked against their proofs, by lite-server function and result: good, or the reason of the refusal',
    labelNames: ['kind', 'result'],
    registers: [register],
  });
  const duration = new Histogram({
    name: 'ton_proof_duration_seconds',
    help: 'Time of one check, by lite-server function, with waits for signatures or for the proof of its block',
    labelNames: ['kind'],
    buckets: DURATION_BUCKETS_S,
    registers: [register],
  });

  function finish(kind: string, startedMs: number, result: string): void {
    checks.inc({ kind, result });
    duration.observe({ kind }, (performance.now() - startedMs) / 1000);
  }

  return {
    async measure(kind, check) {
      const startedMs = performance.now();
      try {
        const value = await check();
        finish(kind, startedMs, 'good');
        return value;
      } catch (error) {
        finish(kind, startedMs, resultOf(error));
        throw error;
      }
    },
  };
}

/** Metrics of the chain of trusted blocks. */
export type TrustMetrics = { readonly keyBlockSeqno: Gauge; readonly storedChains: Counter<'state'> };

export function createTrustMetrics(register: Registry): TrustMetrics {
  return {
    keyBlockSeqno: new Gauge({
      name: 'ton_proof_key_block_seqno',
      help: 'Seqno of the newest masterchain key block that is proved from the configured anchor',
      registers: [register],
    }),
    storedChains: new Counter({
      name: 'ton_proof_stored_chains_total',
      help: 'Stored key blocks read at the start, by state: loaded, absent, corrupt or foreign',
      labelNames: ['state'],
      registers: [register],
    }),
  };
}

export function createSignatureCounter(register: Registry): Counter<'result'> {
  return new Counter({
    name: 'ton_proof_signatures_total',
    help: 'Checked signatures of validators, by result; a batch ends at its first bad signature',
    labelNames: ['result'],
    registers: [register],
  });
}

function resultOf(error: unknown): string {
  return error instanceof ProofError || error instanceof ProofUnavailableError ? error.code : 'failed';
}

/** Panels of proofs in the dashboard of a TonApi. */
export const proofPanels = [
  {
    row: 'Proofs and get-methods',
    title: 'Checks',
    description: 'By result',
    unit: 'ops',
    queries: { '{{kind}} {{result}}': 'sum by (kind, result) (rate(ton_proof_checks_total{PODS}[RATE]))' },
  },
] as const;
