import { join } from 'node:path';

import { Address, Cell, getMethodId } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { writeBoc } from '#service/decode/boc-writer.ts';
import { runSmcMethod } from '#service/liteserver/functions.ts';
import { decodeStack } from '#service/tvm/stack-reader.ts';
import { cellOfSlice, type StackEntry } from '#service/tvm/stack.ts';
import { reference, schemaOf } from '#test/service/http/reference.ts';
import { readRecords } from '#test/service/tvm/recorded-world.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { ask } from '#test/support/v2-call-styles.ts';

// Every account that told the recorded node what token it is, asked of the whole service over HTTP at the same block.

type QueryRecord = {
  query_name: string;
  note: string;
  request_hex: string;
  response_type: string;
  response_hex: string;
};
type Json = Record<string, unknown>;

const [folder] = recordingDirs();
const runs = (await readRecords<QueryRecord>(join(folder ?? '', 'queries.jsonl')))
  .filter(({ query_name, response_type }) => query_name.endsWith('runSmcMethod') && !response_type.endsWith('error'))
  .map((record) => ({
    note: record.note,
    args: runSmcMethod.decodeArgs(Buffer.from(record.request_hex, 'hex')),
    answer: runSmcMethod.decode(Buffer.from(record.response_hex, 'hex')),
  }))
  .filter(({ answer }) => answer.exitCode === 0 && (answer.result?.length ?? 0) > 0);

/** What a token's own get-method says, as the contract shows it; addresses and cells are read by the reference library. */
const views: Record<string, (stack: StackEntry[]) => Json> = {
  get_jetton_data: ([supply, mintable, admin, , code]) => ({
    '@type': 'ext.tokens.jettonMasterData',
    contract_type: 'jetton_master',
    total_supply: numberOf(supply),
    mintable: numberOf(mintable) !== '0',
    ...withAddress('admin_address', admin),
    jetton_wallet_code: bagOf(code),
  }),
  get_wallet_data: ([balance, owner, jetton, code]) => ({
    '@type': 'ext.tokens.jettonWalletData',
    contract_type: 'jetton_wallet',
    balance: numberOf(balance),
    ...withAddress('owner', owner),
    ...withAddress('jetton', jetton),
    jetton_wallet_code: bagOf(code),
  }),
  get_collection_data: ([next, , owner]) => ({
    '@type': 'ext.tokens.nftCollectionData',
    contract_type: 'nft_collection',
    next_item_index: numberOf(next),
    ...withAddress('owner_address', owner),
  }),
  get_nft_data: ([init, index, collection, owner]) => ({
    '@type': 'ext.tokens.nftItemData',
    contract_type: 'nft_item',
    init: numberOf(init) !== '0',
    index: numberOf(index),
    ...withAddress('collection_address', collection),
    ...withAddress('owner_address', owner),
  }),
};

const tokens = Object.entries(views).flatMap(([method, view]) =>
  runs
    .filter(({ args }) => Number(args.methodId) === getMethodId(method))
    .map(({ note, args, answer }) => ({ note, args, expected: view(decodeStack(answer.result!)) })),
);

const none = skipLoudly(tokens.length === 0, { what: 'recorded tokens over HTTP', why: 'no token methods recorded' });

describe.skipIf(none)('tokens over HTTP', () => {
  let service: ApiUnderTest;
  beforeAll(async () => {
    service = await startApiUnderTest({ behindBlocks: 0 });
  });
  afterAll(() => service.close());

  it.each(tokens)('$note', async ({ args, expected }) => {
    const id = args.account.id.toString('hex');
    const address = `${args.account.workchain}:${id}`;
    for (const way of ['GET', 'POST', 'JSON-RPC'] as const) {
      const params = { address, seqno: args.id.seqno };
      const { body } = await ask({ url: service.api.url, key: service.key }, way, 'getTokenData', params);
      expect(body).toMatchObject({
        ok: true,
        result: { ...expected, address: `${args.account.workchain}:${id.toUpperCase()}` },
      });
      const name = way === 'JSON-RPC' ? 'GetTokenDataRpcResponse' : 'GetTokenDataResponse';
      expect(flawsOf(name, body)).toEqual([]);
    }
  });

  it('echoes a friendly address with its flags, in the URL alphabet', async () => {
    const { args } = tokens[0]!;
    const account = new Address(args.account.workchain, args.account.id);
    const asked = account.toString({ bounceable: false, urlSafe: false });
    const { body } = await ask({ url: service.api.url, key: service.key }, 'GET', 'getTokenData', { address: asked });
    const address = account.toString({ bounceable: false });
    expect(body).toMatchObject({ ok: true, result: { address } });
  });

  it.each([
    ['a contract of another kind', `-1:${'33'.repeat(32)}`],
    ['an absent account', `0:${'42'.repeat(32)}`],
  ])('%s is no token', async (_name, address) => {
    const { status, body } = await ask({ url: service.api.url, key: service.key }, 'GET', 'getTokenData', { address });
    expect(status).toBe(409);
    expect(flawsOf('Error409', body)).toEqual([]);
  });
});

function flawsOf(name: string, body: unknown): unknown {
  const validate = schemaOf(reference, name);
  return validate(body) ? [] : validate.errors;
}

function numberOf(entry: StackEntry | undefined): string {
  return entry?.type === 'int' ? entry.value.toString() : 'no number';
}

function bagOf(entry: StackEntry | undefined): string {
  if (entry?.type !== 'cell') return 'no cell';
  return writeBoc(entry.table, [entry.cell], { crc32c: true }).toString('base64');
}

/** No field for nobody. */
function withAddress(name: string, entry: StackEntry | undefined): Json {
  if (entry?.type !== 'slice') return {};
  const { table, cell } = cellOfSlice(entry);
  const slice = Cell.fromBoc(writeBoc(table, [cell]))[0]!.beginParse();
  const address = slice.loadMaybeAddress();
  return address === null ? {} : { [name]: address.toString() };
}
