import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { liteServerFunctions } from '#service/liteserver/function-table.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { answerKinds } from './answer-kinds.ts';
import { recordings } from './recorded.ts';

const signatures = createSignatureChecker({}, { register: new Registry(), logger: pino({ level: 'silent' }) });
afterAll(() => signatures.close());

describe.each(recordings())('Every recorded answer of a real node is proved: $folder', (recording) => {
  it('each function whose definition says that its answer is checked has a check here', () => {
    const checked = liteServerFunctions.filter(({ proof }) => proof === 'checked').map(({ name }) => name);
    const here = new Set(answerKinds(recording, signatures).map(({ name }) => name.split(' ')[0]));
    expect(checked.filter((name) => !here.has(name))).toEqual([]);
  });

  for (const { name, cases } of answerKinds(recording, signatures)) {
    const missing = skipLoudly(cases.length === 0, {
      what: `proofs of ${name}`,
      why: `none recorded in ${recording.folder}`,
    });
    it.skipIf(missing)(`every recorded answer of ${name} is proved: ${cases.length} answers`, async () => {
      const proved = await Promise.all(cases.map(({ answer, prove }) => prove(answer)));
      expect(proved).not.toContain(undefined);
    });
  }
});
