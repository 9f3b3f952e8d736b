import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import type { Chain } from '#service/devchain/chain.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import { runSmcMethod } from '#service/liteserver/functions.ts';
import { decodeStack } from '#service/tvm/stack-reader.ts';
import { encodeStack } from '#service/tvm/stack-writer.ts';
import type { GetMethodResult } from '#service/tvm/tvm.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import {
  accountAt,
  bocOf,
  configAfter,
  librariesAfter,
  previousBlocksOf,
  readRecords,
  rebuildChain,
  startTvm,
} from './recorded-world.ts';

// Every get-method that the recorded node ran is run here, on the rebuilt state.

type QueryRecord = {
  query_name: string;
  note: string;
  request_hex: string;
  response_type: string;
  response_hex: string;
};

const { tvm } = startTvm();
afterAll(() => tvm.close());

/** Gas that a lite server gives (lite server sheet 5.1). */
const LITE_SERVER_GAS = 300_000;

/** What a lite server answers for an account without code, where the VM says -13. */
const LITE_SERVER_NO_CODE = -256;

for (const folder of recordingDirs()) {
  const records = (await readRecords<QueryRecord>(join(folder, 'queries.jsonl')))
    .filter((record) => record.query_name.endsWith('runSmcMethod') && record.response_type !== 'liteServer.error')
    .map((record) => ({
      note: record.note,
      args: runSmcMethod.decodeArgs(Buffer.from(record.request_hex, 'hex')),
      answer: runSmcMethod.decode(Buffer.from(record.response_hex, 'hex')),
    }));
  const chain = await rebuildChain(folder);

  describe(`the get-methods of ${folder.split('/').at(-1)}`, () => {
    it('are there', () => expect(records.length).toBeGreaterThan(0));

    it.each(records)('$note ends as on the node', async ({ args, answer }) => {
      const { exitCode, stack } = await run(chain, args);
      expect(exitCode === -13 ? LITE_SERVER_NO_CODE : exitCode).toBe(answer.exitCode);
      if (answer.result === undefined || answer.result.length === 0) return;
      expect(hashOf(encodeStack(stack))).toBe(hashOf(answer.result));
    });
  });

  describe(`the stacks of ${folder.split('/').at(-1)}`, () => {
    const stacks = records.flatMap(({ note, args, answer }) =>
      [args.params, answer.result, answer.initC7]
        .filter((bytes) => bytes !== undefined && bytes.length > 0)
        .map((bytes) => ({ note, bytes: bytes! })),
    );

    it.each(stacks)('of $note are read and written back as they were', ({ bytes }) => {
      expect(hashOf(encodeStack(decodeStack(bytes)))).toBe(hashOf(bytes));
    });
  });
}

async function run(chain: Chain, args: ArgsOf<typeof runSmcMethod>): Promise<GetMethodResult> {
  const { seqno } = args.id;
  const masterchainBlock = chain.masterchain(seqno)!;
  const { block, account } = accountAt(chain, seqno, args.account);
  const init = account?.state.kind === 'active' ? account.state.init : undefined;
  return tvm.runGetMethod({
    code: bocOf(chain, init?.code),
    data: bocOf(chain, init?.data),
    address: args.account,
    balance: account?.balance.grams ?? 0n,
    utime: block.header.utime,
    randSeed: Buffer.alloc(32),
    methodId: Number(args.methodId),
    stack: args.params.length === 0 ? [] : decodeStack(args.params),
    config: configAfter(chain, masterchainBlock),
    previousBlocks: previousBlocksOf(chain, seqno),
    fetchLibrary: librariesAfter(chain, masterchainBlock),
    gasLimit: LITE_SERVER_GAS,
  });
}

function hashOf(bytes: Buffer): string {
  const boc = parseBoc(bytes);
  return boc.hash(boc.roots[0]!).toString('hex');
}
