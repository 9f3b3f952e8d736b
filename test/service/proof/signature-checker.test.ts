import { pino } from 'pino';
import { Registry } from 'prom-client';
import { sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { SignatureBatch } from '#service/proof/signatures.ts';
import type { SignatureChecker, SignatureCheckerOptions } from '#service/proof/signature-checker.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { signerOf } from './synthetic-chain.ts';

const opened: SignatureChecker[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((checker) => checker.close()));
});

function start(options: SignatureCheckerOptions = {}): { checker: SignatureChecker; register: Registry } {
  const register = new Registry();
  const checker = createSignatureChecker(options, { register, logger: pino({ level: 'silent' }) });
  opened.push(checker);
  return { checker, register };
}

/** Returns a message signed by `count` validators; the one at `bad` signs something else. */
function batch(count: number, bad = -1): SignatureBatch {
  const message = Buffer.from('a block');
  const signers = Array.from({ length: count }, (_, index) => {
    const { publicKey, privateKey } = signerOf(index, 1n);
    return { publicKey, signature: sign(null, index === bad ? Buffer.from('another') : message, privateKey) };
  });
  return { message, signers };
}

describe('The signature checker', () => {
  it('the checker accepts a batch of good signatures, and counts them', async () => {
    const { checker, register } = start();
    await checker.check(batch(5));
    expect(await register.metrics()).toContain('ton_proof_signatures_total{result="good"} 5');
  });

  it('the checker refuses a batch with one bad signature, and names it', async () => {
    const { checker, register } = start();
    await expect(checker.check(batch(5, 3))).rejects.toMatchObject({
      code: 'bad_signature',
      data: { found: 'signature 3' },
    });
    expect(await register.metrics()).toContain('ton_proof_signatures_total{result="bad"} 1');
  });

  it('the checker answers many batches in several threads, each with its own verdict', async () => {
    const { checker } = start({ workers: 2 });
    const verdicts = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => checker.check(batch(2, index % 2))),
    );
    expect(verdicts.every(({ status }) => status === 'rejected')).toBe(true);
    await expect(checker.check(batch(2))).resolves.toBeUndefined();
  });

  it('the checker refuses batches beyond its bound, and no lite server is at fault', async () => {
    const { checker } = start({ batchesMax: 2 });
    const held = [checker.check(batch(1)), checker.check(batch(1))];
    await expect(checker.check(batch(1))).rejects.toMatchObject({
      name: 'ProofUnavailableError',
      code: 'proof_overloaded',
    });
    await Promise.all(held);
    await expect(checker.check(batch(1))).resolves.toBeUndefined();
  });

  it('a closed checker settles waiting batches, and accepts no more', async () => {
    const { checker } = start();
    const waiting = checker.check(batch(50));
    const closing = checker.close();
    await expect(waiting).rejects.toMatchObject({ code: 'proof_closed' });
    await closing;
    await expect(checker.check(batch(1))).rejects.toMatchObject({ code: 'proof_closed' });
  });

  it('the checker distinguishes a dead thread from a bad signature, and starts another', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tonplane-proof-'));
    const file = join(folder, 'worker.mjs');
    writeFileSync(
      file,
      `import { parentPort } from 'node:worker_threads';
       parentPort.on('message', ({ id, job: { signers } }) => {
         if (signers.length === 96) throw new Error('killed by the test');
         parentPort.postMessage({ id, result: -1 });
       });`,
    );
    const { checker } = start({ workerUrl: pathToFileURL(file) });
    await expect(checker.check(batch(1))).rejects.toMatchObject({
      name: 'ProofUnavailableError',
      code: 'proof_worker_failed',
    });
    await expect(checker.check(batch(2))).resolves.toBeUndefined();
    await checker.close();
    await rm(folder, { recursive: true });
  });
});
