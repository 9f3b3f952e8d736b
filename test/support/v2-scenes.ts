import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';

import { describeV2 } from '#service/http/openapi.ts';
import type { Operation } from '#service/contract/operation.ts';
import { createV2, type V2Dependencies } from '#service/v2/v2.ts';
import type { ApiUnderTest } from './api.ts';
import { fixtureFiles, recordingDirs } from './fixtures.ts';

export type Params = Readonly<Record<string, unknown>>;

/** The table of operations. None is run: a running service does that. */
const v2 = createV2({ release: 0 }, {} as V2Dependencies);

export const operations: readonly Operation[] = v2.operations;

/** A recorded account of the network. */
export type KnownAccount = {
  readonly name: string;
  readonly address: string;
  readonly friendly?: string;
  /** Words about it; may name hashes of libraries that it publishes. */
  readonly what: string;
  readonly state_at_last: string;
  /** Nanotons at the end of the recording. */
  readonly balance_at_last: string;
  /** Hex; absent or null without code. */
  readonly code_hash?: string | null;
};

type KnownFile = Record<string, Omit<KnownAccount, 'name'>>;

/** Accounts that the recording names. */
export function knownAccounts(): KnownAccount[] {
  const [folder] = recordingDirs();
  if (folder === undefined) return [];
  const known = JSON.parse(readFileSync(join(folder, 'accounts.json'), 'utf8')) as KnownFile;
  return Object.entries(known).map(([name, account]) => ({ name, ...account }));
}

/** Parameters that make sense together; each operation that takes all of them is asked so. */
type Scene = Params;

/**
 * Good requests to an operation: every scene whose parameters it takes and that its own document admits. Scenes are made
 * from the recording, so that another recording of the same form is asked about its own accounts, blocks and messages.
 */
export function requestsTo(operation: Operation, scenes: readonly Scene[]): Params[] {
  const names = new Set(operation.parameters.map(({ name }) => name));
  const admits = requestSchema(operation);
  return scenes.filter((scene) => Object.keys(scene).every((name) => names.has(name)) && admits(scene));
}

const ajv = new Ajv2020({ strict: false });
ajv.addSchema({ $id: 'http://document.test/own', ...(describeV2(v2) as object) });

/** Whether the document takes these parameters. */
function requestSchema({ name }: Operation): (value: Params) => boolean {
  const validate = ajv.getSchema(
    `http://document.test/own#/components/schemas/${name.charAt(0).toUpperCase()}${name.slice(1)}Request`,
  );
  if (validate === undefined) throw new Error(`the document describes no request of ${name}`);
  return (value) => validate(value) as boolean;
}

type Json = Record<string, unknown>;

/** Scenes of the network that `api` serves; `api` itself is asked for transactions and blocks to ask about. */
export async function readScenes(api: ApiUnderTest): Promise<Scene[]> {
  const { chain } = api.network;
  const last = api.network.head().id.seqno;
  const middle = Math.ceil(last / 2);
  const accounts = knownAccounts();
  const shardBlocks = chain.masterchain(middle)!.shards.map(({ block }) => block);
  const places = [chain.masterchain(middle)!.id, chain.masterchain(last)!.id, ...shardBlocks].map((id) => ({
    workchain: id.workchain,
    shard: BigInt.asIntN(64, id.shard).toString(),
    seqno: id.seqno,
    hashes: { root_hash: id.rootHash.toString('base64'), file_hash: id.fileHash.toString('base64') },
    header: chain.find(id)!.header,
  }));
  return [
    {},
    ...accounts.flatMap(({ address, friendly = address }) => [{ address }, { address: friendly, seqno: middle }]),
    ...places.flatMap(({ header, hashes, ...place }) => [
      place,
      { ...place, ...hashes },
      { ...place, from_seqno: last },
      { ...place, count: 3 },
      { workchain: place.workchain, shard: place.shard, lt: header.startLt.toString() },
      { workchain: place.workchain, shard: place.shard, unixtime: header.utime },
    ]),
    { libraries: accounts.flatMap(({ what }) => what.match(/\b[0-9a-f]{64}\b/g) ?? []) },
    { seqno: middle },
    { seqno: last },
    { hash: places[0]!.hashes.root_hash },
    { hash: Buffer.from(places[0]!.hashes.root_hash, 'base64').toString('hex') },
    ...[0, 4, 8, 15, 17, 20, 21, 24, 25, 34].flatMap((id) => [{ config_id: id }, { param: id, seqno: middle }]),
    ...(await historyScenes(api, accounts)),
    ...recordedScenes(),
  ];
}

/** Pages of histories, and messages to find both ends of. */
async function historyScenes(api: ApiUnderTest, accounts: readonly KnownAccount[]): Promise<Scene[]> {
  const scenes: Scene[] = [];
  for (const { address } of accounts.slice(0, 12)) {
    const { body } = await api.get(`getTransactions?address=${address}&limit=5`);
    const transactions = (body['result'] ?? []) as Json[];
    const start = transactions.at(-1);
    if (start === undefined) continue;
    const { lt, hash } = start['transaction_id'] as { lt: string; hash: string };
    scenes.push({ address, limit: 3 }, { address, lt, hash, limit: 2 }, { address, limit: 20, to_lt: lt });
    const messages = transactions.flatMap((one) => [one['in_msg'], ...(one['out_msgs'] as Json[])]) as Json[];
    const internal = messages.find((message) => message?.['source'] !== '' && message?.['destination'] !== '');
    if (internal === undefined) continue;
    const { source, destination, created_lt: createdLt } = internal as Record<string, string>;
    scenes.push({ source, destination, created_lt: createdLt });
  }
  return scenes;
}

type Exchange = { readonly request: Json; readonly response: Json };

/** What clients asked of the recorded node beside blocks and accounts: messages, fees, get-methods, names, libraries. */
function recordedScenes(): Scene[] {
  const exchanges = fixtureFiles(/(^|\/)tonlib\.jsonl$/)
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exchange);
  const methods = knownAccounts().flatMap(({ name, address }) =>
    methodsOf(name).flatMap((method) => [{ address, method, stack: [] }]),
  );
  return [...exchanges.flatMap(({ request }) => sceneOf(request)), ...methods];
}

/** Get-methods without arguments that a contract of this name in the recording may have; others answer an exit code. */
function methodsOf(name: string): string[] {
  if (name.startsWith('jetton_minter') || name.endsWith('minter')) return ['get_jetton_data'];
  if (name.includes('jetton_wallet') || name.startsWith('stable_wallet')) return ['get_wallet_data'];
  if (name.startsWith('nft_collection')) return ['get_collection_data'];
  if (name.startsWith('nft_')) return ['get_nft_data'];
  if (name === 'elector') return ['active_election_id', 'participant_list_extended'];
  return ['seqno'];
}

function sceneOf(request: Json): Scene[] {
  switch (request['@type']) {
    case 'raw.sendMessage':
    case 'raw.sendMessageReturnHash':
      return [{ boc: request['body'] }];
    case 'raw.createQuery + query.estimateFees':
      return [{ address: request['address'], body: request['body'] }];
    case 'dns.resolve':
      return dnsScene(request);
    case 'smc.getLibraries':
      return [{ libraries: request['library_list'] }];
    default:
      return [];
  }
}

function dnsScene(request: Json): Scene[] {
  const address = (request['account_address'] as Json | undefined)?.['account_address'];
  if (typeof address !== 'string' || typeof request['name'] !== 'string') return [];
  return [{ address, name: request['name'], ttl: Number(request['ttl'] ?? 0) }];
}
