import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN, blockText } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { recordingInvalid } from './errors.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';

/** The workchain that the second zerostate file belongs to. */
export const BASECHAIN = 0;

/** A state before the first block, as the node read it. */
export type ZeroState = { readonly id: BlockId; readonly bytes: Buffer };

/** A block as recorded. */
export type RecordedBlock = {
  readonly id: BlockId;
  /** The file whose SHA-256 is `id.fileHash`. */
  readonly bytes: Buffer;
  /** First masterchain block with this block in its history. */
  readonly masterchainSeqno: number;
};

type Signature = { readonly nodeIdShort: Buffer; readonly signature: Buffer };

/** A masterchain block's signatures (service/proof/README.md#signatures). */
export type SignatureSet = {
  readonly catchainSeqno: number;
  /** Unsigned 32 bits. */
  readonly validatorSetHash: number;
  readonly signatures: readonly Signature[];
} & (
  | { readonly kind: 'ordinary' }
  | { readonly kind: 'simplex'; readonly sessionId: Buffer; readonly slot: number; readonly candidate: Buffer }
);

/** A recorded chain: the zerostates, every block in an order in which each follows what it is built on, signatures. */
export type Recording = {
  readonly path: string;
  readonly masterchainZeroState: ZeroState;
  readonly basechainZeroState: ZeroState;
  readonly blocks: readonly RecordedBlock[];
  /** Signatures by masterchain seqno. */
  readonly signatures: ReadonlyMap<number, SignatureSet>;
};

/**
 * Reads a recording's folder: `zerostate-masterchain.boc`, `zerostate-basechain.boc`, `blocks.jsonl[.gz]`, `signatures.jsonl[.gz]`. Checks
 * every block's file hash; `buildChain` checks the rest.
 * @throws DevchainError `recording_invalid`
 */
export async function openRecording(path: string, slices: TimeSlice): Promise<Recording> {
  const [masterchainZeroState, basechainZeroState, blockLines, signatureLines] = await Promise.all([
    readZeroState(join(path, 'zerostate-masterchain.boc'), MASTERCHAIN),
    readZeroState(join(path, 'zerostate-basechain.boc'), BASECHAIN),
    readLines(join(path, 'blocks.jsonl')),
    readLines(join(path, 'signatures.jsonl')),
  ]);
  const blocks: RecordedBlock[] = [];
  for (const line of blockLines) {
    blocks.push(readBlock(path, line));
    await slices.pause();
  }
  if (blocks.length === 0) throw recordingInvalid(path, 'The recording has no block.');
  const signatures = new Map<number, SignatureSet>();
  for (const line of signatureLines) {
    const { seqno, set } = readSignatures(path, line);
    signatures.set(seqno, set);
    await slices.pause();
  }
  return { path, masterchainZeroState, basechainZeroState, blocks, signatures };
}

async function readZeroState(file: string, workchain: number): Promise<ZeroState> {
  const bytes = await read(file);
  try {
    const boc = parseBoc(bytes);
    const rootHash = boc.hash(boc.roots[0]!);
    return { id: { workchain, shard: FULL_SHARD, seqno: 0, rootHash, fileHash: sha256(bytes) }, bytes };
  } catch (error) {
    throw recordingInvalid(file, 'The zerostate is not a bag of cells.', error);
  }
}

/** The lines of `file` or of `file.gz`, whichever is there. */
async function readLines(file: string): Promise<Iterable<string>> {
  const plain = await readFile(file).catch(() => undefined);
  if (plain !== undefined) return splitLines(plain);
  const packed = await read(`${file}.gz`);
  try {
    return splitLines(await promisify(gunzip)(packed));
  } catch (error) {
    throw recordingInvalid(`${file}.gz`, 'The recording cannot be unpacked.', error);
  }
}

function* splitLines(bytes: Buffer): Generator<string> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(10, start);
    const stop = end === -1 ? bytes.length : end;
    if (stop > start) yield bytes.toString('latin1', start, stop);
    start = stop + 1;
  }
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw recordingInvalid(file, `The recording has no readable ${file}.`, error);
  }
}

type BlockLine = {
  workchain: number;
  shard: string;
  seqno: number;
  root_hash: string;
  file_hash: string;
  mc_seqno: number;
  boc: string;
};

function readBlock(path: string, line: string): RecordedBlock {
  const record = parseLine(path, line) as BlockLine;
  const id: BlockId = {
    workchain: record.workchain,
    shard: BigInt(`0x${record.shard}`),
    seqno: record.seqno,
    rootHash: Buffer.from(record.root_hash, 'hex'),
    fileHash: Buffer.from(record.file_hash, 'hex'),
  };
  const bytes = Buffer.from(record.boc, 'base64');
  if (!sha256(bytes).equals(id.fileHash)) {
    throw recordingInvalid(path, `The file of block ${blockText(id)} does not have its hash.`);
  }
  return { id, bytes, masterchainSeqno: record.mc_seqno };
}

type SignatureLine = {
  seqno: number;
  kind: string;
  catchain_seqno: number;
  validator_set_hash: number;
  session_id?: string;
  slot?: number;
  candidate?: string;
  signatures: { node_id_short: string; signature: string }[];
};

function readSignatures(path: string, line: string): { seqno: number; set: SignatureSet } {
  const record = parseLine(path, line) as SignatureLine;
  const shared = {
    catchainSeqno: record.catchain_seqno,
    validatorSetHash: record.validator_set_hash,
    signatures: record.signatures.map((one) => ({
      nodeIdShort: Buffer.from(one.node_id_short, 'hex'),
      signature: Buffer.from(one.signature, 'hex'),
    })),
  };
  if (record.kind !== 'simplex') return { seqno: record.seqno, set: { kind: 'ordinary', ...shared } };
  const { session_id: sessionId, slot, candidate } = record;
  if (sessionId === undefined || slot === undefined || candidate === undefined) {
    throw recordingInvalid(path, `The signatures of block ${record.seqno} lack their session.`);
  }
  return {
    seqno: record.seqno,
    set: {
      kind: 'simplex',
      ...shared,
      sessionId: Buffer.from(sessionId, 'hex'),
      slot,
      candidate: Buffer.from(candidate, 'hex'),
    },
  };
}

function parseLine(path: string, line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw recordingInvalid(path, 'A line of the recording is not JSON.', error);
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
