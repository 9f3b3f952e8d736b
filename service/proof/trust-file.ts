import type { Logger } from 'pino';
import type { BlockId } from '../decode/block-id.ts';
import type { ZeroStateId } from './trusted-blocks.ts';
import { createHash } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { FULL_SHARD, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';

/** State of a stored chain: `foreign` is of another network or anchor, `corrupt` is damaged. */
export type StoredChainState = 'loaded' | 'absent' | 'corrupt' | 'foreign';

export type StoredChain = { readonly state: StoredChainState; readonly keyBlocks: readonly BlockId[] };

/** Configured blocks from which a stored chain was proved. The chain is invalid under others. */
export type ChainRoot = { readonly anchor: BlockId; readonly zeroState: ZeroStateId };

type StoredBlock = { readonly seqno: number; readonly rootHash: string; readonly fileHash: string };
type Content = {
  readonly format: string;
  readonly anchor: StoredBlock;
  readonly zeroState: { readonly rootHash: string; readonly fileHash: string };
  readonly keyBlocks: readonly StoredBlock[];
};

const FORMAT = 'tonplane key blocks 1';
/** Most bytes of the file. A bounded number of key blocks, some 170 bytes each, take less than 1 MB. A longer file is of another writer. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Reads the key blocks that were proved before. Their signatures are not checked again, because the operator's disk is trusted like the operator's
 * configuration. The checksum detects damage; the anchor and the zero state detect another configuration. If the configured anchor has moved to a key
 * block of the stored chain, the blocks above it stay.
 */
export function loadChain(file: string, root: ChainRoot): StoredChain {
  const text = readBounded(file);
  if (text === undefined) return { state: 'absent', keyBlocks: [] };
  const content = parseContent(text);
  if (content === undefined) return { state: 'corrupt', keyBlocks: [] };
  const blocks = [content.anchor, ...content.keyBlocks].map(loadBlock);
  const sameNetwork =
    content.zeroState.rootHash === root.zeroState.rootHash.toString('hex') &&
    content.zeroState.fileHash === root.zeroState.fileHash.toString('hex');
  if (!sameNetwork || !blocks.some((block) => sameBlock(block, root.anchor)))
    return { state: 'foreign', keyBlocks: [] };
  return { state: 'loaded', keyBlocks: blocks.filter(({ seqno }) => seqno > root.anchor.seqno) };
}

/** Writes one chain after another. If several wait, only the newest is written. */
export type ChainWriter = {
  save(keyBlocks: readonly BlockId[]): void;
  /** Resolves when the last saved chain is on disk, or could not be written. */
  flush(): Promise<void>;
};

/** Creates a writer for one file. Failures are logged; a chain that is not stored is proved again after a restart. */
export function createChainWriter(file: string, root: ChainRoot, logger: Logger): ChainWriter {
  let next: readonly BlockId[] | undefined;
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (next !== undefined) {
      const keyBlocks = next;
      next = undefined;
      try {
        await replaceFile(file, formatContent(root, keyBlocks));
      } catch (error) {
        logger.warn({ err: error, file }, 'the proved key blocks could not be stored');
      }
    }
    writing = undefined;
  }

  return {
    save(keyBlocks) {
      next = keyBlocks;
      writing ??= writeAll();
    },
    async flush() {
      await writing;
    },
  };
}

/** Replaces the file as a whole or not at all, even if the machine stops in between. */
async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

function readBounded(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return '';
  }
  try {
    const size = fstatSync(descriptor).size;
    if (size > FILE_BYTES_MAX) return '';
    const bytes = Buffer.alloc(size);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, size, 0));
  } catch {
    return '';
  } finally {
    closeSync(descriptor);
  }
}

/** Formats two lines: the content as JSON, and the SHA-256 of that line. */
function formatContent({ anchor, zeroState }: ChainRoot, keyBlocks: readonly BlockId[]): string {
  const content: Content = {
    format: FORMAT,
    anchor: storeBlock(anchor),
    zeroState: { rootHash: zeroState.rootHash.toString('hex'), fileHash: zeroState.fileHash.toString('hex') },
    keyBlocks: keyBlocks.map(storeBlock),
  };
  const line = JSON.stringify(content);
  return `${line}\n${checksum(line)}\n`;
}

function parseContent(text: string): Content | undefined {
  const [line, sum, rest] = text.split('\n');
  if (line === undefined || sum !== checksum(line) || rest !== '') return undefined;
  try {
    const content = JSON.parse(line) as Content;
    return isContent(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

function isContent({ format, anchor, zeroState, keyBlocks }: Content): boolean {
  const blocks = [anchor, ...keyBlocks];
  const ascends = blocks.every(({ seqno }, index) => index === 0 || seqno > blocks[index - 1]!.seqno);
  return format === FORMAT && typeof zeroState === 'object' && ascends && blocks.every(isStoredBlock);
}

const HASH = /^[0-9a-f]{64}$/;

function isStoredBlock({ seqno, rootHash, fileHash }: StoredBlock): boolean {
  return Number.isInteger(seqno) && seqno >= 0 && seqno < 2 ** 31 && HASH.test(rootHash) && HASH.test(fileHash);
}

function checksum(line: string): string {
  return createHash('sha256').update(line).digest('hex');
}

function storeBlock({ seqno, rootHash, fileHash }: BlockId): StoredBlock {
  return { seqno, rootHash: rootHash.toString('hex'), fileHash: fileHash.toString('hex') };
}

function loadBlock({ seqno, rootHash, fileHash }: StoredBlock): BlockId {
  return {
    workchain: MASTERCHAIN,
    shard: FULL_SHARD,
    seqno,
    rootHash: Buffer.from(rootHash, 'hex'),
    fileHash: Buffer.from(fileHash, 'hex'),
  };
}
