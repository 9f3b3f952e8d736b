import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import type { Params } from '#test/support/v2-scenes.ts';
import { ask } from '../support/v2-call-styles.ts';

type Json = Record<string, unknown>;

type Exchange = { readonly note: string; readonly request: Json; readonly response: Json };

/** What the reference client's library answered over the recorded node. */
const exchanges: readonly Exchange[] = fixtureFiles(/(^|\/)tonlib\.jsonl$/)
  .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Exchange)
  .filter(({ response }) => response['@type'] !== 'error');

/** The same question to the API. */
type Question = { readonly operation: string; readonly params: Params };

const accountOf = (request: Json): string =>
  ((request['account_address'] as Json | undefined)?.['account_address'] ?? request['account']) as string;

const placeOf = ({ workchain, shard, seqno }: Json): Params => ({ workchain, shard, seqno });

/** Each kind of question that has the same meaning in both. */
const questions: Readonly<Record<string, (request: Json, seqno: number | undefined) => Question>> = {
  'raw.getAccountState': (request, seqno) => atBlock('getAddressInformation', request, seqno),
  getAccountState: (request, seqno) => atBlock('getExtendedAddressInformation', request, seqno),
  getShardAccountCell: (request, seqno) => atBlock('getShardAccountCell', request, seqno),
  getConfigParam: ({ param }, seqno) => ({ operation: 'getConfigParam', params: { config_id: param, seqno } }),
  getConfigAll: (_request, seqno) => ({ operation: 'getConfigAll', params: { seqno } }),
  'blocks.getBlockHeader': ({ id }) => {
    const { root_hash: rootHash, file_hash: fileHash } = id as Json;
    return {
      operation: 'getBlockHeader',
      params: { ...placeOf(id as Json), root_hash: rootHash, file_hash: fileHash },
    };
  },
  'blocks.getMasterchainBlockSignatures': ({ seqno }) => ({
    operation: 'getMasterchainBlockSignatures',
    params: { seqno },
  }),
  'blocks.getShards': ({ id }) => ({ operation: 'getShards', params: { seqno: (id as Json)['seqno'] } }),
  'smc.runGetMethod': (request) => ({
    operation: 'runGetMethodStd',
    params: {
      address: accountOf(request),
      method: request['method'],
      stack: request['stack'],
      seqno: (request['block'] as Json)['seqno'],
    },
  }),
  'raw.getTransactionsV2': (request) => {
    const { lt, hash } = request['from_transaction_id'] as Json;
    return {
      operation: 'getTransactionsStd',
      params: { address: accountOf(request), lt, hash, limit: request['count'] },
    };
  },
};

function atBlock(operation: string, request: Json, seqno: number | undefined): Question {
  return { operation, params: { address: accountOf(request), seqno } };
}

/** Questions about a block that the recording has, by kind. */
function recordedQuestions(lastSeqno: number): ReadonlyMap<string, [Exchange, Question][]> {
  const found = new Map<string, [Exchange, Question][]>();
  for (const exchange of exchanges) {
    const { request } = exchange;
    const isPinned = request['@type'] === 'withBlock';
    const inner = isPinned ? (request['function'] as Json) : request;
    const seqno = isPinned ? Number((request['id'] as Json)['seqno']) : undefined;
    const kind = String(inner['@type']);
    const question = questions[kind]?.(inner, seqno);
    // Without a block the node answered for its own newest one, which the recording does not reach.
    const needsBlock = kind.endsWith('ccountState') && seqno === undefined;
    // The API shows text and encrypted messages as such, always.
    const isRaw = inner['try_decode_messages'] === false;
    if (question === undefined || isRaw || needsBlock || (seqno ?? 0) > lastSeqno) continue;
    found.set(kind, [...(found.get(kind) ?? []), [exchange, question]]);
  }
  return found;
}

/** The library's answer in the form of the contract (service/v2/README.md#shared-objects). */
function contractForm(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => contractForm(item));
  if (typeof value !== 'object' || value === null) {
    if (key === 'balance' && value === '-1') return '0';
    if (integers.has(key) && typeof value === 'string') return Number(value);
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !notShown.has(name))
      .map(([name, item]) => [name, contractForm(item, name)]),
  );
}

/** 64-bit integers that the library writes as text and the contract as numbers. */
const integers: ReadonlySet<string> = new Set(['wallet_id', 'unlocked_balance', 'channel_id']);

/** Fields of the library that the contract does not have. */
const notShown: ReadonlySet<string> = new Set(['@extra', 'flags', 'vert_seqno']);

describe('over HTTP, the answers of the recorded node', () => {
  let api: ApiUnderTest;
  let asked: ReadonlyMap<string, [Exchange, Question][]>;
  beforeAll(async () => {
    api = await startApiUnderTest({ behindBlocks: 0 });
    asked = recordedQuestions(api.network.chain.lastSeqno);
  });
  afterAll(() => api.close());

  it.each(Object.keys(questions))('to %s are given again', async (kind) => {
    const pairs = asked.get(kind) ?? [];
    expect(pairs.length).toBeGreaterThan(0);
    for (const [{ note, response }, { operation, params }] of pairs) {
      const service = { url: api.api.url, key: api.key };
      const { status, body } = await ask(service, 'POST', operation, params);
      const shown = { note, params, status, result: body['result'] ?? body['error'] };
      expect(shown).toMatchObject({ note, params, status: 200, result: contractForm(response) as Json });
    }
  });
});
