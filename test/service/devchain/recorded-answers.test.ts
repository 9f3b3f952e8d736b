import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { sameBlock } from '#service/decode/block-id.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import { isRefusal } from '#service/devchain/chain/errors.ts';
import { createMessageInbox } from '#service/devchain/queries/message-queries.ts';
import { createMethodRunner } from '#service/devchain/queries/method-runner.ts';
import { answerQuery } from '#service/devchain/queries/queries.ts';
import { functionOf } from '#service/liteserver/function-table.ts';
import { runSmcMethod } from '#service/liteserver/functions.ts';
import { decodeEnvelope, encodeEnvelope, errorAnswer } from '#service/liteserver/tl/envelope.ts';
import { liteServerError } from '#service/liteserver/tl/lite-api.ts';
import { encodeTl } from '#service/liteserver/tl/record.ts';
import type { Agreement } from './comparison.ts';
import { compareAnswers } from './comparison.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';
import { recordingDirs } from '#test/support/fixtures.ts';

type Exchange = { readonly name: string; readonly note: string; readonly request: Buffer; readonly answer: Buffer };

/** The parts of an answer that are about the moment of the recording, when the chain was already beyond the tape. */
const momentary: Readonly<Record<string, readonly string[]>> = {
  getTime: ['now'],
  getVersion: ['now'],
  getMasterchainInfo: ['last', 'stateRootHash'],
  getMasterchainInfoExt: ['last', 'lastUtime', 'now', 'stateRootHash'],
  getOutMsgQueueSizes: ['shards'],
};

/** Why an exchange cannot be compared, or undefined when it can. */
function incomparable({ name, request, answer }: Exchange, chain: Chain): string | undefined {
  const error = errorAnswer(answer);
  if (name === 'runSmcMethod') return incomparableRun(answer, chain);
  if (error !== undefined && /not accepted|cannot run message on account/.test(error.text))
    return 'needs the virtual machine';
  if (name === 'getMasterchainInfo' && (error?.code === 651 || error?.code === 652))
    return 'the outcome of a wait: see waiting.test.ts';
  const args = functionOf(request)!.decodeArgs(request) as Record<string, unknown>;
  if (name === 'getBlockProof' && args['targetBlock'] === undefined) return 'ends at the head of the moment';
  if ((args['id'] as BlockId | undefined)?.seqno === 0xffffffff) return 'is about the head of the moment';
  if (error === undefined && isBeyond(args, chain)) return 'is about blocks after the end of the tape';
  return undefined;
}

/** State proofs show what the virtual machine touched, and the first values it had are random: this server has its own. */
function incomparableRun(answer: Buffer, chain: Chain): string | undefined {
  if (errorAnswer(answer) !== undefined) return undefined;
  const { mode, id } = runSmcMethod.decode(answer);
  if ((mode & 10) !== 0) return 'shows what the virtual machine touched, or random values';
  if (id.seqno > chain.lastSeqno) return 'is about blocks after the end of the tape';
  return undefined;
}

function isBeyond(args: Record<string, unknown>, chain: Chain): boolean {
  const { header, shards } = chain.masterchain(chain.lastSeqno)!;
  const lastShardSeqno = Math.max(0, ...shards.map((shard) => shard.block.seqno));
  const blocks = Object.values(args).filter((value) => typeof value === 'object' && value !== null && 'seqno' in value);
  const lt = args['lt'];
  return (
    (blocks as BlockId[]).some(
      ({ workchain, seqno }) => seqno > (workchain === -1 ? chain.lastSeqno : lastShardSeqno),
    ) ||
    (typeof lt === 'bigint' && lt > header.endLt)
  );
}

/** What a text says of the server's newest block. */
function withoutTip(text: string): string {
  return text
    .replaceAll(/last known masterchain block: \d+/g, 'last known masterchain block: N')
    .replaceAll(/shard_client_seqno=\d+ ls_seqno=\d+/g, 'shard_client_seqno=N ls_seqno=N')
    .replaceAll(/(reference (?:masterchain )?block) \(-1,8000000000000000,\d+\):[0-9A-F]{64}:[0-9A-F]{64}/g, '$1 N');
}

function readExchanges(folder: string): Exchange[] {
  const file = join(folder, 'queries.jsonl');
  if (!existsSync(file)) return [];
  type Line = { query_name: string; note: string; request_hex: string; response_hex: string };
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
    .map((line) => ({
      name: line.query_name.replace('liteServer.', ''),
      note: line.note,
      request: decodeEnvelope(encodeEnvelope(Buffer.from(line.request_hex, 'hex'))).request,
      answer: Buffer.from(line.response_hex, 'hex'),
    }));
}

describe.each(recordingDirs())('the embedded lite server and the node that recorded %s', (folder) => {
  const byFunction = Map.groupBy(readExchanges(folder), ({ name }) => name);
  const table: Record<string, { bytes: number; cells: number; excluded: number }> = {};
  const reasons = new Map<string, number>();
  const methods = createMethodRunner();
  let chain: Chain;

  beforeAll(async () => {
    chain = await recordedChain(folder);
    await methods.ready();
  });

  afterAll(() => {
    const rows = Object.entries(table).map(([name, row]) => `${name}: ${JSON.stringify(row)}\n`);
    const excluded = [...reasons].map(([reason, count]) => `${count} not compared: ${reason}\n`);
    process.stdout.write([...rows, ...excluded].join(''));
  });

  function ask(request: Buffer, isSecond: boolean, tip: number): Buffer {
    const view = { chain, tip, nowSeconds: 0 };
    const tools = { inbox: createMessageInbox({ nowMs: () => 0 }), methods };
    try {
      if (isSecond) answerQuery(view, request, tools);
      return answerQuery(view, request, tools);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return encodeTl(liteServerError.boxed, { code: error.data.serverCode, message: error.message });
    }
  }

  function compare({ name, request, answer }: Exchange): Agreement {
    const recordedError = errorAnswer(answer);
    const isRun = name === 'runSmcMethod' && recordedError === undefined;
    const tip = isRun ? runSmcMethod.decode(answer).id.seqno : chain.lastSeqno;
    const ours = ask(request, recordedError?.text.includes('duplicate message') === true, tip);
    if (ours.equals(answer)) return 'bytes';
    const error = errorAnswer(ours);
    if (error !== undefined || recordedError !== undefined) {
      const same =
        error?.code === recordedError?.code && withoutTip(error?.text ?? '') === withoutTip(recordedError?.text ?? '');
      return same ? 'bytes' : { differs: `error ${error?.text ?? 'none'} is not ${recordedError?.text ?? 'none'}` };
    }
    const fn = functionOf(request)!;
    const [mine, theirs] = [fn.decode(ours), fn.decode(answer)].map((value) => {
      const fields = Object.entries(value as object).filter(([field]) => momentary[name]?.includes(field) !== true);
      return Object.fromEntries(fields);
    });
    // The node's search may end at any block of that second, ours ends at the first.
    if (name.startsWith('lookupBlock') && sharesSecond(mine!['id'] as BlockId, theirs!['id'] as BlockId))
      return 'cells';
    return compareAnswers(mine, theirs);
  }

  function sharesSecond(ours: BlockId, theirs: BlockId): boolean {
    return !sameBlock(ours, theirs) && chain.find(ours)?.header.utime === chain.find(theirs)?.header.utime;
  }

  it.each([...byFunction.keys()])('agree on %s', (name) => {
    const row = (table[name] ??= { bytes: 0, cells: 0, excluded: 0 });
    const differences: string[] = [];
    for (const exchange of byFunction.get(name)!) {
      const reason = incomparable(exchange, chain);
      if (reason !== undefined) {
        row.excluded++;
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        continue;
      }
      const agreement = compare(exchange);
      if (typeof agreement === 'object') differences.push(`${exchange.note}: ${agreement.differs}`);
      else row[agreement]++;
    }
    expect(differences).toEqual([]);
  });

  it.runIf(byFunction.size > 0)('agree to the byte nearly always', () => {
    const rows = Object.values(table);
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    const cells = rows.reduce((sum, row) => sum + row.cells, 0);
    expect(bytes).toBeGreaterThan(cells * 5);
  });
});
