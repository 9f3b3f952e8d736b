import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseBoc } from '#service/decode/boc.ts';
import { projectRoot } from '#test/style/sources.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';

/** A bag of cells that a real node wrote. */
export type RecordedBag = { readonly name: string; readonly bytes: Buffer };

/** Line of a recorded block tape. */
export type TapeLine = {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
  readonly root_hash: string;
  readonly boc: string;
};

/** Returns single files: mainnet blocks, configurations, zero states. */
export function recordedFiles(): RecordedBag[] {
  return fixtureFiles(/\.boc$/).map((file) => ({ name: basename(file), bytes: readFileSync(file) }));
}

/** Returns files of single blocks, by the tag of their root cell. */
export function recordedBlockFiles(): RecordedBag[] {
  return recordedFiles().filter(({ bytes }) => {
    const boc = parseBoc(bytes);
    const [root] = boc.roots as [number];
    return boc.bitLength(root) >= 32 && boc.bytes.readUInt32BE(boc.dataOffset(root)) === 0x11ef55aa;
  });
}

/** Returns all lines of the JSON-lines files whose path matches, packed or not. */
export function readLines<T>(pattern: RegExp): T[] {
  return fixtureFiles(pattern).flatMap((file) => linesOf<T>(file));
}

export function linesOf<T>(file: string): T[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** Returns the blocks of the recorded networks. */
export function tapeBlocks(): (RecordedBag & { readonly rootHash: Buffer })[] {
  return readLines<TapeLine>(/blocks\.jsonl(\.gz)?$/).map((line) => ({
    name: `(${line.workchain},${line.shard},${line.seqno})`,
    bytes: Buffer.from(line.boc, 'base64'),
    rootHash: Buffer.from(line.root_hash, 'hex'),
  }));
}

/** Returns every bag in recorded lite-server answers and requests, found by its first bytes and its own length. */
export function answerBags(): RecordedBag[] {
  return readLines<{ query_name: string; note: string; response_hex: string }>(/queries\.jsonl(\.gz)?$/).flatMap(
    (line) =>
      bagsIn(Buffer.from(line.response_hex, 'hex')).map((bytes) => ({
        name: `${line.query_name} ${line.note}`,
        bytes,
      })),
  );
}

/** Returns TL `bytes` fields that start with the magic number. Their length is before it in one or four bytes. */
function bagsIn(answer: Buffer): Buffer[] {
  const bags: Buffer[] = [];
  for (let at = answer.indexOf('b5ee9c72', 0, 'hex'); at >= 0; at = answer.indexOf('b5ee9c72', at + 4, 'hex')) {
    const length = answer[at - 4] === 0xfe ? answer.readUIntLE(at - 3, 3) : answer[at - 1]!;
    if (length >= 8 && at + length <= answer.length) bags.push(answer.subarray(at, at + length));
  }
  return bags;
}

/** Returns every base64 bag in tonlib's answers. */
export function tonlibBags(): RecordedBag[] {
  const bags: RecordedBag[] = [];
  const collect = (name: string, value: unknown): void => {
    if (typeof value === 'string' && value.startsWith('te6cc'))
      bags.push({ name, bytes: Buffer.from(value, 'base64') });
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach((child) => collect(name, child));
  };
  readLines<{ request: { '@type': string }; response: unknown }>(/tonlib\.jsonl(\.gz)?$/).forEach((line) =>
    collect(line.request['@type'], line.response),
  );
  return bags;
}

/** Proofs of the main network. */
export const proofVectorsFile = join(projectRoot, 'test/vectors/liteserver/mainnet-proofs.json');
