import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import type { LiteServerFunction } from '#service/liteserver/functions.ts';
import type { SignatureSet } from '#service/proof/signatures.ts';
import type { ZeroStateId } from '#service/proof/trusted-blocks.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseBoc } from '#service/decode/boc.ts';

/** Recorded query to a lite server and its answer. */
export type Exchange<Args, Answer> = { readonly note: string; readonly args: Args; readonly answer: Answer };

type RecordedQuery = {
  readonly query_name: string;
  readonly note: string;
  readonly request_hex: string;
  readonly response_type: string;
  readonly response_hex: string;
};

/** `liteServer.waitMasterchainSeqno` in front of a request. */
const WAIT_PREFIX = Buffer.from('92b8eaba', 'hex');

/** Returns every exchange of one function, except exchanges with an error. */
function exchangesOf<Args, Answer>(
  queries: readonly RecordedQuery[],
  fn: LiteServerFunction<Args, Answer>,
): Exchange<Args, Answer>[] {
  const name = `liteServer.${fn.name}`;
  return queries
    .filter(({ query_name, response_type }) => query_name === name && response_type !== 'liteServer.error')
    .map(({ note, request_hex, response_hex }) => {
      const request = Buffer.from(request_hex, 'hex');
      const args = request.subarray(0, 4).equals(WAIT_PREFIX) ? request.subarray(12) : request;
      return { note, args: fn.decodeArgs(args), answer: fn.decode(Buffer.from(response_hex, 'hex')) };
    });
}

/** Id and signatures of a recorded masterchain block. */
export type SignedBlock = { readonly block: BlockId; readonly set: SignatureSet };

type RecordedSignatures = {
  readonly seqno: number;
  readonly root_hash: string;
  readonly file_hash: string;
  readonly kind: string;
  readonly catchain_seqno: number;
  readonly validator_set_hash: number;
  readonly session_id: string;
  readonly slot: number;
  readonly candidate: string;
  readonly signatures: readonly { readonly node_id_short: string; readonly signature: string }[];
};

type RecordedBlock = {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
  readonly root_hash: string;
  readonly file_hash: string;
  readonly boc: string;
};

/** Recorded network: its zero state, blocks and signature sets by masterchain seqno. */
export type Recording = {
  readonly folder: string;
  readonly zeroState: ZeroStateId;
  readonly zeroStateBoc: Buffer;
  readonly exchanges: <Args, Answer>(fn: LiteServerFunction<Args, Answer>) => Exchange<Args, Answer>[];
  readonly blocks: () => readonly { readonly id: BlockId; readonly boc: Buffer }[];
  readonly signatures: () => readonly SignedBlock[];
};

/** Returns every recorded network of the fixtures. */
export function recordings(): Recording[] {
  return recordingDirs().map((folder) => {
    const zeroStateBoc = readFileSync(join(folder, 'zerostate-masterchain.boc'));
    const boc = parseBoc(zeroStateBoc);
    const queries = linesOf<RecordedQuery>(folder, 'queries');
    return {
      folder,
      exchanges: (fn) => exchangesOf(queries, fn),
      zeroStateBoc,
      zeroState: { rootHash: boc.hash(boc.roots[0]!), fileHash: createHash('sha256').update(zeroStateBoc).digest() },
      blocks: () =>
        linesOf<RecordedBlock>(folder, 'blocks').map((block) => ({
          id: blockOf(block),
          boc: Buffer.from(block.boc, 'base64'),
        })),
      signatures: () => linesOf<RecordedSignatures>(folder, 'signatures').map(signedBlock),
    };
  });
}

function linesOf<T>(folder: string, name: string): T[] {
  return [`${name}.jsonl`, `${name}.jsonl.gz`]
    .map((file) => join(folder, file))
    .filter(existsSync)
    .flatMap((file) => readLines<T>(file));
}

function blockOf({ workchain, shard, seqno, root_hash, file_hash }: RecordedBlock): BlockId {
  return {
    workchain,
    shard: BigInt(`0x${shard}`),
    seqno,
    rootHash: Buffer.from(root_hash, 'hex'),
    fileHash: Buffer.from(file_hash, 'hex'),
  };
}

function signedBlock(recorded: RecordedSignatures): SignedBlock {
  const { catchain_seqno, validator_set_hash, session_id, slot, candidate } = recorded;
  const common = {
    catchainSeqno: catchain_seqno,
    validatorSetHash: validator_set_hash,
    signatures: recorded.signatures.map(({ node_id_short, signature }) => ({
      nodeIdShort: Buffer.from(node_id_short, 'hex'),
      signature: Buffer.from(signature, 'hex'),
    })),
  };
  const block = blockOf({ ...recorded, workchain: MASTERCHAIN, shard: FULL_SHARD.toString(16), boc: '' });
  if (recorded.kind === 'ordinary') return { block, set: { kind: 'ordinary', ...common } };
  return {
    block,
    set: {
      kind: 'simplex',
      ...common,
      sessionId: Buffer.from(session_id, 'hex'),
      slot,
      candidate: Buffer.from(candidate, 'hex'),
    },
  };
}

function readLines<T>(file: string): T[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
