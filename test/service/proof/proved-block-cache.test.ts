import { describe, expect, it } from 'vitest';
import type { BlockId } from '#service/decode/block-id.ts';
import { getAccountState } from '#service/liteserver/functions.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import type { AccountStateAnswer } from '#service/proof/answers.ts';
import { ProofError } from '#service/proof/errors.ts';
import { createProvedBlockCache } from '#service/proof/proved-block-cache.ts';
import type { ProvedBlockCache } from '#service/proof/proved-block-cache.ts';
import { createLiar, donorsOf } from '../liteserver/tl/mutations.ts';
import { seeded } from './mutations.ts';
import { recordings } from './recorded.ts';
import type { Recording } from './recorded.ts';

const MUTATIONS_PER_ANSWER = 60;

const questionsOf = (recording: Recording) => recording.exchanges(getAccountState);

type AccountQuestion = Pick<ReturnType<typeof questionsOf>[number], 'args' | 'answer'>;

function prove(
  { args: { id, account } }: AccountQuestion,
  answer: AccountStateAnswer,
  known?: ProvedBlockCache,
): string {
  const expected = { block: id, workchain: account.workchain, account: account.id };
  const { shard, account: found } = checkAccountState({ ...expected, ...(known && { known }) }, answer);
  const cell = found && [found.table.hash(found.cell).toString('hex'), String(found.lastTransactionLt)];
  return JSON.stringify([shard?.block.rootHash, shard?.info.utime, cell], (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}

describe.each(recordings())('Cached blocks from earlier accounts: $folder', (recording) => {
  const questions = questionsOf(recording);

  it('every account has the same proof with cached blocks', () => {
    const known = createProvedBlockCache();
    for (const question of [...questions, ...questions]) {
      expect(prove(question, question.answer, known)).toBe(prove(question, question.answer));
    }
    expect(questions.length).toBeGreaterThan(1);
  });

  it('nothing else is proved with cached blocks', () => {
    const known = createProvedBlockCache();
    const random = seeded(77);
    let refused = 0;
    const donors = donorsOf(questions.map(({ answer }) => getAccountState.encodeAnswer(answer)));
    for (const question of questions) {
      const truth = prove(question, question.answer, known);
      const liar = createLiar(getAccountState.encodeAnswer(question.answer), donors);
      for (let round = 0; round < MUTATIONS_PER_ANSWER; round++) {
        const { answer, what } = liar.lie(random);
        try {
          expect([what, prove(question, getAccountState.decode(answer), known)]).toEqual([what, truth]);
        } catch (error) {
          if (!(error instanceof ProofError)) throw error;
          refused++;
        }
      }
      expect(prove(question, question.answer, known)).toBe(truth);
    }
    expect(refused).toBeGreaterThan(questions.length);
  });

  it('cached blocks are found by their whole id', () => {
    const [{ args, answer } = undefined!] = questions;
    const known = createProvedBlockCache();
    known.noteState(answer.shardBlock, { info: undefined!, stateHash: Buffer.alloc(32) });
    const other: BlockId = { ...answer.shardBlock, seqno: answer.shardBlock.seqno + 1 };
    expect(known.state(other)).toBeUndefined();
    expect(known.state(answer.shardBlock)).toBeDefined();
    expect(() => prove({ args, answer }, answer, known)).toThrow('hash_mismatch');
  });

  it('the oldest cached blocks are evicted first when there are too many', () => {
    const known = createProvedBlockCache();
    const [{ answer } = undefined!] = questions;
    const block = (index: number): BlockId => {
      const rootHash = Buffer.alloc(32);
      rootHash.writeUInt32BE(index);
      return { ...answer.shardBlock, rootHash };
    };
    for (let index = 0; index <= 1024; index++)
      known.noteState(block(index), { info: undefined!, stateHash: Buffer.alloc(32) });
    expect([known.state(block(0)), known.state(block(1))]).toEqual([undefined, expect.anything()]);
  });
});
