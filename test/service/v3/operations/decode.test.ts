import { beginCell } from '@ton/core';
import type { Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { commentBody } from '#service/devchain/demo/tokens.ts';
import { bodySource } from '#service/contract/parameter.ts';
import type { ParameterSource } from '#service/contract/parameter.ts';
import { decodeOperations } from '#service/v3/operations/decode.ts';
import { createSemaphore } from '#service/runtime/semaphore.ts';
import type { V3Context } from '#service/v3/request/operation.ts';
import { v3QuerySource } from '#service/v3/request/query-source.ts';

const [operation] = decodeOperations();

/** The operation asks nobody: it needs no more of a request than its parameters. */
const alone = { rowSlots: createSemaphore(1), signal: new AbortController().signal } as unknown as V3Context;

async function run(source: ParameterSource): Promise<unknown> {
  return (await operation!.run(source, alone)).value;
}

const get = (query: string): Promise<unknown> => run(v3QuerySource(new URLSearchParams(query)));
const post = (body: Record<string, unknown>): Promise<unknown> => run(bodySource(body));

function base64(cell: Cell): string {
  return cell.toBoc().toString('base64');
}

const comment = commentBody('hello');
const commentView = { '@type': 'text_comment', type: 'text_comment', comment: 'hello', text: 'hello' };

describe('decode', () => {
  it('answers two lists, empty when nothing is asked', async () => {
    expect(await get('')).toEqual({ opcodes: [], bodies: [] });
    expect(await get('opcodes=&bodies=')).toEqual({ opcodes: [], bodies: [] });
    expect(await post({})).toEqual({ opcodes: [], bodies: [] });
  });

  it('keeps the positions of what is asked', async () => {
    const query = new URLSearchParams();
    for (const opcode of ['0x0f8a7ea5', 'deadbeef', '0xd53276db']) query.append('opcodes', opcode);
    for (const body of ['zz', base64(comment)]) query.append('bodies', body);
    expect(await get(query.toString())).toMatchObject({
      opcodes: ['jetton_transfer', 'unknown', 'excess'],
      bodies: [{ error: expect.stringMatching(/^unknown: failed to deserialize boc: /) }, commentView],
    });
  });

  it.each([
    ['0xf8a7ea5', 'jetton_transfer'],
    ['f8a7ea5', 'jetton_transfer'],
    ['0X0F8A7EA5', 'jetton_transfer'],
    ['-718113061', 'excess'],
    ['3576854235', 'excess'],
    ['0', 'text_comment'],
    ['10', 'unknown'],
    ['4294967295', 'bounce'],
  ])('reads the operation %s as %s', async (text, name) => {
    expect(await post({ opcodes: [text] })).toEqual({ opcodes: [name], bodies: [] });
  });

  it.each(['x', '0xfffffffff', '99999999999', '-2147483649', '', '0x', '1.5', 'f'.repeat(40)])(
    'refuses the operation "%s" and says where it stands',
    async (text) => {
      await expect(post({ opcodes: ['1', text] })).rejects.toMatchObject({
        code: 'invalid_parameter',
        message: `invalid opcode format at index 1: ${text}`,
      });
    },
  );

  it.each([
    ['te6!', /^unknown: failed to decode base64$/],
    ['te6cc', /^unknown: failed to decode base64$/],
    ['te6cckEB', /^unknown: failed to deserialize boc: /],
    ['', /^unknown: failed to deserialize boc: /],
    ['abc', /^unknown: failed to deserialize boc: /],
    [base64(beginCell().storeUint(1, 31).endCell()), /^unknown: boc is too small, size 31$/],
    [base64(beginCell().storeUint(0xdeadbeef, 32).endCell()), /^unknown: no parser succeeded$/],
  ])('tells why the body "%s" is not known', async (text, error) => {
    const answer = await post({ bodies: [text] });
    expect(answer).toMatchObject({
      bodies: [{ error: expect.stringMatching(error) }],
    });
  });

  it('takes base64 of either alphabet and hex', async () => {
    const boc = comment.toBoc();
    const texts = [
      boc.toString('base64'),
      boc.toString('base64url'),
      boc.toString('hex'),
      boc.toString('hex').toUpperCase(),
    ];
    expect(await post({ bodies: texts })).toEqual({ opcodes: [], bodies: texts.map(() => commentView) });
  });

  it('shows an empty cell', async () => {
    expect(await post({ bodies: [base64(beginCell().endCell())] })).toMatchObject({
      bodies: [{ '@type': 'empty_cell' }],
    });
  });

  it.each(['opcodes', 'bodies'])('takes 1000 %s and no more', async (name) => {
    const items = Array.from({ length: 1000 }, () => '00');
    expect(await post({ [name]: items })).toMatchObject({ [name]: { length: 1000 } });
    await expect(post({ [name]: [...items, '00'] })).rejects.toMatchObject({
      message: `${name} list exceeds maximum length of 1000`,
    });
  });

  it.each([{ opcodes: 'x' }, { opcodes: [1] }, { bodies: [null] }, { bodies: { 0: 'te6' } }])(
    'refuses a body that is no list of texts: %j',
    async (body) => {
      await expect(post(body)).rejects.toMatchObject({ code: 'invalid_parameter' });
    },
  );
});
