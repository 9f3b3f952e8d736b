import { randomBytes } from 'node:crypto';

import { trace } from '@opentelemetry/api';
import { Registry } from 'prom-client';

import { createAdmission } from '#service/http/admission.ts';
import { errorAnswer } from '#service/http/reply.ts';
import { createKeyring } from '#service/limits/keyring.ts';
import { makeKey } from '#service/limits/keys.ts';
import { createLimits } from '#service/limits/limits.ts';

import { cpuMs, median, type BenchResult } from '../bench.ts';

const rounds = 5;
const count = 20_000;

/** Bound of one refusal, in microseconds. */
const goalUs = 10;

const now = (): number => performance.timeOrigin + performance.now();

/** CPU of refusing a request: the decision, the error, its answer and its headers; what a request costs before and after is the listener's. */
export async function refusals(): Promise<BenchResult[]> {
  const register = new Registry();
  const { key, id, sha256 } = makeKey(randomBytes);
  const foreign = makeKey(randomBytes);
  const plan = {
    name: 'pro',
    requestsPerSecond: 1,
    burst: 1,
    requestsPerDay: null,
    maxConcurrent: null,
    methodCosts: {},
  };
  const rows = [
    { id, sha256, plan: 'pro' },
    { id: foreign.id, sha256: foreign.sha256, plan: 'pro', networks: ['testnet'] },
  ];
  const limits = createLimits(
    { plans: [plan], anonymousPlan: 'pro', network: 'mainnet' },
    { keyring: createKeyring({ rows }), now, register },
  );
  const tracer = trace.getTracer('bench');
  const span = tracer.startSpan('request');
  const refuse = async (sent: string): Promise<void> => {
    const admission = createAdmission({ key: sent, clientAddress: '192.0.2.1' }, span, { limits, tracer });
    try {
      await admission.charge('getAddressState');
    } catch (error) {
      errorAnswer(error, 'bench');
      admission.headers();
    }
    admission.release();
  };
  const costUs = async (sent: string): Promise<number> => {
    const spent: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const ms = await cpuMs(count, async () => {
        for (let done = 0; done < count; done++) await refuse(sent);
      });
      spent.push(ms * 1000);
    }
    return median(spent.slice(1));
  };
  const kinds: [string, string][] = [
    ['over the rate', key],
    ['unknown key', makeKey(randomBytes).key],
    ['key of another network', foreign.key],
  ];
  const results: BenchResult[] = [];
  for (const [name, sent] of kinds) {
    const value = await costUs(sent);
    results.push({ name: `refusal: ${name}`, value, unit: 'us', goal: `<= ${goalUs} us`, met: value <= goalUs });
  }
  await limits.close();
  return results;
}
