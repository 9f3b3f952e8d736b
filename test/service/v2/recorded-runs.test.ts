import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runSmcMethod } from '#service/liteserver/functions.ts';
import { decodeStack } from '#service/tvm/stack-reader.ts';
import { readRecords } from '#test/service/tvm/recorded-world.ts';
import { readTyped, writeTyped, type TypedEntry } from '#test/service/tvm/typed-stack.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { schemaOf, reference } from '#test/service/http/reference.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { legacyArgument, legacyOf } from './legacy-stack.ts';

// Every get-method that the recorded node and its client's library ran, asked of the whole service over HTTP.

type QueryRecord = {
  query_name: string;
  note: string;
  request_hex: string;
  response_type: string;
  response_hex: string;
};
type TonlibRecord = {
  note: string;
  request: { '@type': string; account: string; method: string | number; stack: TypedEntry[]; block: { seqno: number } };
  response: { '@type': string; gas_used: number; stack: TypedEntry[]; exit_code: number };
};

/** Exit code of a lite server for an account without code, where the VM says -13 and leaves the arguments (service/v2/README.md#get-methods). */
const LITE_SERVER_NO_CODE = -256;

type Run = { gas_used: number; stack: unknown[]; exit_code: number; block_id?: { seqno: number } };

const [folder] = recordingDirs();
const missing = skipLoudly(folder === undefined, { what: 'recorded runs over HTTP', why: 'no recorded network' });

describe.skipIf(missing)('get-methods over HTTP', async () => {
  let service: ApiUnderTest;
  beforeAll(async () => {
    service = await startApiUnderTest({ behindBlocks: 0 });
  });
  afterAll(() => service.close());

  async function run(operation: 'runGetMethod' | 'runGetMethodStd', params: object): Promise<Run> {
    const response = await fetch(`${service.api.url}/api/v2/${operation}`, {
      method: 'POST',
      headers: { 'x-api-key': service.key },
      body: JSON.stringify(params),
    });
    const body = (await response.json()) as { result: Run };
    expect(body).toMatchObject({ ok: true });
    expect(flawsOf(operation, body)).toEqual([]);
    return body.result;
  }

  const asked = (await readRecords<QueryRecord>(join(folder ?? '', 'queries.jsonl')))
    .filter(({ query_name, response_type }) => query_name.endsWith('runSmcMethod') && !response_type.endsWith('error'))
    .map((record) => ({
      note: record.note,
      args: runSmcMethod.decodeArgs(Buffer.from(record.request_hex, 'hex')),
      answer: runSmcMethod.decode(Buffer.from(record.response_hex, 'hex')),
    }));

  it('has runs to compare', () => expect(asked.length).toBeGreaterThan(0));

  it.each(asked)('$note ends as on the node, in both forms', async ({ args, answer }) => {
    const stack = args.params.length === 0 ? [] : decodeStack(args.params);
    const call = {
      address: `${args.account.workchain}:${args.account.id.toString('hex')}`,
      method: Number(args.methodId),
      seqno: args.id.seqno,
    };
    const [typed, legacy] = await Promise.all([
      run('runGetMethodStd', { ...call, stack: stack.map(writeTyped) }),
      run('runGetMethod', { ...call, stack: stack.map(legacyArgument) }),
    ]);
    for (const { exit_code } of [typed, legacy]) {
      expect(exit_code === -13 ? LITE_SERVER_NO_CODE : exit_code).toBe(answer.exitCode);
    }
    expect(legacy.gas_used).toBe(typed.gas_used);
    expect(legacy.block_id?.seqno).toBe(args.id.seqno);
    if (answer.result === undefined || answer.result.length === 0) return;
    const recorded = decodeStack(answer.result);
    expect(typed.stack).toEqual(recorded.map(writeTyped));
    expect(legacy.stack).toEqual(recorded.map(legacyOf));
  });

  const ran = (await readRecords<TonlibRecord>(join(folder ?? '', 'tonlib.jsonl'))).filter(
    ({ request, response }) => request['@type'] === 'smc.runGetMethod' && response['@type'] === 'smc.runResult',
  );

  it.each(ran)("$note is as the node's library says, gas included", async ({ request, response }) => {
    const { account: address, method, stack, block } = request;
    const result = await run('runGetMethodStd', { address, method, stack, seqno: block.seqno });
    expect(result).toEqual(response);
    const legacy = await run('runGetMethod', {
      address,
      method,
      stack: stack.map(readTyped).map(legacyArgument),
      seqno: block.seqno,
    });
    expect(legacy).toMatchObject({ gas_used: response.gas_used, exit_code: response.exit_code });
    expect(legacy.stack).toEqual(response.stack.map(readTyped).map(legacyOf));
  });
});

/** What the published contract, where it is here, says against an answer. */
function flawsOf(operation: 'runGetMethod' | 'runGetMethodStd', body: unknown): unknown {
  const validate = schemaOf(
    reference,
    operation === 'runGetMethod' ? 'RunGetMethodResponse' : 'RunGetMethodStdResponse',
  );
  return validate(body) ? [] : validate.errors;
}
