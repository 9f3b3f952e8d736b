import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import { ProofError } from '#service/proof/errors.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { createLiar, donorsOf } from '../liteserver/tl/mutations.ts';
import type { Donors } from '../liteserver/tl/mutations.ts';
import { report, volume, volumeTimeoutMs } from '../liteserver/tl/volume.ts';
import type { AnswerKind, RecordedCase } from './answer-kinds.ts';
import { answerKinds } from './answer-kinds.ts';
import { seeded } from './mutations.ts';
import { recordings } from './recorded.ts';

const signatures = createSignatureChecker(
  { batchesMax: 4096 },
  { register: new Registry(), logger: pino({ level: 'silent' }) },
);
afterAll(() => signatures.close());

/** Most lies shown in a failure. */
const FAULTS_MAX = 10;

/** Makes answers that differ from the recorded ones as TL. Each must be refused, or as good as the truth. */
async function lie(kind: AnswerKind, donors: Donors): Promise<{ refused: number; right: number; faults: string[] }> {
  const outcome = { refused: 0, right: 0, faults: [] as string[] };
  const truths = await Promise.all(kind.cases.map(({ answer, prove }) => prove(answer)));
  const liars = kind.answers.map((answer) => createLiar(answer, donors));
  const random = seeded(1);
  for (let round = 0; round < volume && outcome.faults.length < FAULTS_MAX; round++) {
    const index = round % liars.length;
    const { answer, what } = liars[index]!.lie(random);
    const { note, prove } = kind.cases[index]!;
    try {
      const proved = await prove(kind.decode(answer));
      if (kind.isRight(proved, truths[index])) outcome.right++;
      else outcome.faults.push(`${note}: ${what}: accepted`);
    } catch (error) {
      if (error instanceof ProofError) outcome.refused++;
      else outcome.faults.push(`${note}: ${what}: ${String(error)}`);
    }
  }
  return outcome;
}

describe.each(recordings())('Any answer that is TL is right or refused as a lie: $folder', (recording) => {
  const kinds = answerKinds(recording, signatures).filter(({ cases }) => cases.length > 0);
  const donors = donorsOf(kinds.flatMap(({ answers }) => answers.slice(0, 8)));

  it.each(kinds)(
    `every changed answer of $name is refused or right: ${volume} lies, seed 1`,
    { timeout: volumeTimeoutMs },
    async (kind) => {
      const { refused, right, faults } = await lie(kind, donors);
      expect(faults).toEqual([]);
      expect(refused).toBeGreaterThan(0);
      expect(refused + right).toBe(volume);
      report(`${kind.name}: ${refused} refused, ${right} right`);
    },
  );
});

/** Exchanges true answers of other requests. An accepted one must be as good an answer to this request. */
async function swap(
  { isRight }: AnswerKind,
  question: RecordedCase,
  others: readonly RecordedCase[],
): Promise<string[]> {
  const truth = await question.prove(question.answer);
  const outcomes = await Promise.all(
    others.map(async ({ note, answer }) => {
      const proved = await question.prove(answer).catch((error: unknown) => error);
      return proved instanceof ProofError || isRight(proved, truth) ? undefined : `${question.note} <- ${note}`;
    }),
  );
  return outcomes.filter((outcome) => outcome !== undefined);
}

describe.each(recordings())('Answers to other questions are refused: $folder', (recording) => {
  const kinds = answerKinds(recording, signatures).filter(({ cases }) => cases.length > 1);
  for (const kind of kinds) {
    const { name, cases } = kind;
    it(`an answer of ${name} to another request is refused: ${cases.length} times ${cases.length}`, async () => {
      for (const question of cases) expect(await swap(kind, question, cases)).toEqual([]);
    });
  }
});
