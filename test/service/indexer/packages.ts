import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { BlockId } from '#service/decode/block-id.ts';

/** An entry of an archive package. */
export type Entry = { readonly name: string; readonly data: Buffer };

/** A package as a node writes it: the header word, then each entry's lengths, name and data. */
export function packageBytes(entries: readonly Entry[]): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32LE(0xae8fdd01);
  const parts = entries.flatMap(({ name, data }) => {
    const lengths = Buffer.alloc(8);
    lengths.writeUInt16LE(0x1e8b, 0);
    lengths.writeUInt16LE(name.length, 2);
    lengths.writeUInt32LE(data.length, 4);
    return [lengths, Buffer.from(name, 'latin1'), data];
  });
  return Buffer.concat([header, ...parts]);
}

/** A block with the proof that a node keeps beside it. */
export function entriesOf({ id, bytes }: { readonly id: BlockId; readonly bytes: Buffer }): Entry[] {
  const kind = id.workchain === -1 ? 'proof' : 'prooflink';
  return [
    { name: `${kind}_${nameOf(id)}`, data: Buffer.from('no block') },
    { name: `block_${nameOf(id)}`, data: bytes },
  ];
}

function nameOf({ workchain, shard, seqno, rootHash, fileHash }: BlockId): string {
  return `(${workchain},${shard.toString(16).padStart(16, '0')},${seqno}):${upperHex(rootHash)}:${upperHex(fileHash)}`;
}

function upperHex(hash: Buffer): string {
  return hash.toString('hex').toUpperCase();
}

/** Writes a package below a folder and gives its path. */
export function writePackage(folder: string, name: string, entries: readonly Entry[]): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, packageBytes(entries));
  return path;
}

type Block = { readonly id: BlockId; readonly bytes: Buffer; readonly masterchainSeqno: number };

/**
 * Packages as a node lays them out: one for each hundred masterchain blocks, the shard blocks with the masterchain block that brings them, those
 * of the basechain in a package of their own from the second hundred on, as newer nodes have it. Entries are not in the order of seqnos.
 */
export function writeArchive(folder: string, blocks: readonly Block[]): void {
  const groups = Map.groupBy(blocks, ({ masterchainSeqno }) => Math.floor(masterchainSeqno / 100) * 100);
  for (const [start, group] of groups) {
    const number = String(start).padStart(5, '0');
    const shuffled = group.toReversed();
    const own = shuffled.filter(({ id }) => start < 100 || id.workchain === -1);
    const apart = shuffled.filter((block) => !own.includes(block));
    writePackage(folder, `arch0000/archive.${number}.pack`, own.flatMap(entriesOf));
    if (apart.length > 0) {
      writePackage(folder, `arch0000/archive.${number}.0:8000000000000000.pack`, apart.flatMap(entriesOf));
    }
  }
}
