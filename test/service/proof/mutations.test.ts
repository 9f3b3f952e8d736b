import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { ProofError } from '#service/proof/errors.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import type { AnswerKind, RecordedCase } from './answer-kinds.ts';
import { answerKinds } from './answer-kinds.ts';
import { mutateAnswer } from './answer-mutations.ts';
import { seeded } from './mutations.ts';
import { recordings } from './recorded.ts';

const signatures = createSignatureChecker(
  { batchesMax: 4096 },
  { register: new Registry(), logger: pino({ level: 'silent' }) },
);
afterAll(() => signatures.close());

/** A whole run stays within seconds: 300 recorded answers, a millisecond each. */
const MUTATIONS_PER_ANSWER = 80;

type Outcome = { refused: number; unchanged: number; accepted: string[]; broken: string[] };

/** Forges one recorded answer many times. What is accepted must prove exactly what the recorded answer proves. */
async function forge(
  { unproved }: AnswerKind,
  recorded: RecordedCase,
  others: readonly RecordedCase[],
  seed: number,
): Promise<Outcome> {
  const outcome: Outcome = { refused: 0, unchanged: 0, accepted: [], broken: [] };
  const random = seeded(seed);
  const truth = JSON.stringify(await recorded.prove(recorded.answer));
  for (let round = 0; round < MUTATIONS_PER_ANSWER; round++) {
    const other = others[random(others.length)]!.answer;
    const mutation = mutateAnswer(recorded.answer, other, unproved, random);
    if (mutation === undefined) continue;
    try {
      const proved = JSON.stringify(await recorded.prove(mutation.answer));
      if (proved === truth && mutation.mayBeHarmless) outcome.unchanged++;
      else outcome.accepted.push(`${recorded.note}: ${mutation.what}`);
    } catch (error) {
      if (error instanceof ProofError) outcome.refused++;
      else outcome.broken.push(`${recorded.note}: ${mutation.what}: ${String(error)}`);
    }
  }
  return outcome;
}

/** True answers to other questions: what is accepted must be as good an answer to this one. */
async function swap(question: RecordedCase, others: readonly RecordedCase[]): Promise<string[]> {
  const truth = JSON.stringify(await question.prove(question.answer));
  const outcomes = await Promise.all(
    others.map(async ({ note, answer }) => {
      const proved = await question.prove(answer).catch((error: unknown) => error);
      if (proved instanceof ProofError) return 'refused';
      return JSON.stringify(proved) === truth ? 'same' : `${question.note} <- ${note}`;
    }),
  );
  return outcomes.filter((outcome) => outcome !== 'refused' && outcome !== 'same');
}

describe.each(recordings())('Forged answers are refused: $folder', (recording) => {
  for (const kind of answerKinds(recording, signatures).filter(({ cases }) => cases.length > 0)) {
    it(`${kind.name}: ${kind.cases.length} answers`, { timeout: 60_000 }, async () => {
      let refused = 0;
      for (const [index, recorded] of kind.cases.entries()) {
        const outcome = await forge(kind, recorded, kind.cases, 1000 + index);
        expect(outcome.accepted, 'accepted though something else was said').toEqual([]);
        expect(outcome.broken, 'refused, but not as a forgery').toEqual([]);
        refused += outcome.refused;
      }
      expect(refused).toBeGreaterThan(0);
    });
  }
});

describe.each(recordings())('Answers to other questions are refused: $folder', (recording) => {
  const kinds = answerKinds(recording, signatures).filter(({ cases, ambiguous }) => cases.length > 1 && !ambiguous);
  for (const { name, cases } of kinds) {
    it(`${name}: ${cases.length} times ${cases.length}`, { timeout: 60_000 }, async () => {
      for (const question of cases) expect(await swap(question, cases)).toEqual([]);
    });
  }
});
