import { join } from 'node:path';
import { getMethodId } from '@ton/core';
import { afterAll, describe, expect, it } from 'vitest';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import {
  accountAt,
  bocOf,
  configAfter,
  librariesAfter,
  previousBlocksOf,
  readRecords,
  startTvm,
} from './recorded-world.ts';
import type { TypedEntry } from './typed-stack.ts';
import { readTyped, writeTyped } from './typed-stack.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

// The reference client's library ran these get-methods on states that it had proved. Its gas is the oracle of this TVM's.

type RunRecord = {
  note: string;
  request: {
    '@type': string;
    account: string;
    block: { seqno: number };
    method: string | number;
    stack: TypedEntry[];
  };
  response: { '@type': string; gas_used: number; exit_code: number; stack: TypedEntry[] };
};

const { tvm } = startTvm();
afterAll(() => tvm.close());

for (const folder of recordingDirs()) {
  const records = (await readRecords<RunRecord>(join(folder, 'tonlib.jsonl'))).filter(
    ({ request, response }) => request['@type'] === 'smc.runGetMethod' && response['@type'] === 'smc.runResult',
  );
  const none = skipLoudly(records.length === 0, { what: `gas of get-methods in ${folder}`, why: 'no tonlib.jsonl' });
  describe.skipIf(none)(`the get-methods that the library ran on ${folder.split('/').at(-1)}`, async () => {
    const chain = await recordedChain(folder);

    it.each(records)("$note: gas, exit code and stack are equal to the library's", async ({ request, response }) => {
      const { seqno } = request.block;
      const [workchain, id] = request.account.split(':');
      const address = { workchain: Number(workchain), id: Buffer.from(id!, 'hex') };
      const { block, account } = accountAt(chain, seqno, address);
      const init = account?.state.kind === 'active' ? account.state.init : undefined;
      const masterchainBlock = chain.masterchain(seqno)!;
      const result = await tvm.runGetMethod({
        code: bocOf(chain, init?.code),
        data: bocOf(chain, init?.data),
        address,
        balance: account?.balance.grams ?? 0n,
        utime: block.header.utime,
        randSeed: Buffer.alloc(32),
        methodId: typeof request.method === 'number' ? request.method : getMethodId(request.method),
        stack: request.stack.map(readTyped),
        config: configAfter(chain, masterchainBlock),
        previousBlocks: previousBlocksOf(chain, seqno),
        fetchLibrary: librariesAfter(chain, masterchainBlock),
      });
      expect({
        gas_used: Number(result.gasUsed),
        exit_code: result.exitCode,
        stack: result.stack.map(writeTyped),
      }).toEqual({ gas_used: response.gas_used, exit_code: response.exit_code, stack: response.stack });
    });
  });
}
