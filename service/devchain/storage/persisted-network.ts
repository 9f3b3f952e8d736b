import { join } from 'node:path';

import type { Logger } from 'pino';

import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { GrowingChain } from '../chain/chain.ts';
import { stateAfter } from '../chain/chain.ts';
import type { AccountPlace } from '../collator/missing-account.ts';
import { keptNetworkInvalid } from '../chain/errors.ts';
import { lockFolder } from './folder-lock.ts';
import type { AskedAccount, OriginReads, ForkPoint } from '../fork/fork.ts';
import { openAppendLog } from './append-log.ts';
import type { Consensus } from '../chain/signing.ts';
import { makeFolder } from '#service/runtime/make-folder.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import type { StateRetention } from '../chain/state-retention.ts';
import { forgetOldBlocks, forgetOldStates } from '../chain/state-retention.ts';
import type { SignatureSet, RecordedBlock, ZeroState } from '../chain/recording.ts';

/** Content that a network was created with. */
export type NetworkOrigin = {
  readonly validators: number;
  readonly consensus: Consensus;
  /** Zerostates of the masterchain and the basechain. */
  readonly zeroStates: readonly ZeroState[];
  /** Origin of a copy; undefined for a network without an origin. */
  readonly fork?: ForkPoint | undefined;
};

/** Blocks of one step: the shards' blocks, each after its previous blocks, then the masterchain's block. */
export type PersistedStep = {
  readonly blocks: readonly RecordedBlock[];
  readonly signatures: SignatureSet;
  /** Accounts of the forked network that the blocks bring over. */
  readonly brought?: readonly AccountPlace[];
};

/** A network in a folder: its initial content, and every block, in a file that only grows. */
export type PersistedNetwork = {
  /** Undefined in a folder that is new. */
  readonly origin: NetworkOrigin | undefined;
  /** Writes the beginning of a new network. */
  begin(origin: NetworkOrigin): void;
  /**
   * Adds all stored blocks to a chain without blocks, and rebuilds the states.
   * @param onProgress receives the finished part, 0 to 1
   * @returns the requests to the forked network
   * @throws DevchainError `kept_network_invalid`
   */
  replay(
    chain: GrowingChain,
    window: StateRetention,
    slices: TimeSlice,
    onProgress: (done: number) => void,
  ): Promise<OriginReads>;
  /** Stores a step. On return the system has the bytes, so they outlive the process. */
  append(step: PersistedStep): void;
  /** Records that the forked network has no such account. */
  appendAbsent(place: AccountPlace): void;
  /** Records that the forked network has no library with this hash. */
  appendAbsentLibrary(hash: Buffer): void;
  close(): void;
};

/** Changes with the form of the records. */
const FORMAT = 1;

/**
 * Opens the network of a folder, or creates the folder. Only one process may open it.
 * @throws DevchainError `network_in_use`, `kept_network_invalid`, or the system's error
 */
export function openPersistedNetwork(folder: string, { logger }: { readonly logger: Logger }): PersistedNetwork {
  makeFolder(folder);
  const lock = lockFolder(folder);
  const path = join(folder, 'blocks.bin');
  const file = openAppendLog(path);
  const records = file.records();
  const close = (): void => {
    file.close();
    lock.release();
  };
  try {
    const first = records.next();
    const origin = first.done === true ? undefined : readOrigin(path, first.value.payload);
    return {
      origin,
      begin: (given) => file.append(writeOrigin(given)),
      async replay(chain, window, slices, onProgress) {
        const from = chain.lastSeqno;
        const [accounts, absentLibraries]: [AskedAccount[], Buffer[]] = [[], []];
        for (const { payload, done } of records) {
          const { absent, absentLibrary, step } = readEntry(payload);
          if (absent !== undefined) accounts.push({ ...absent, isThere: false });
          if (absentLibrary !== undefined) absentLibraries.push(absentLibrary);
          if (step !== undefined) {
            addStep(path, chain, step);
            accounts.push(...(step.brought ?? []).map((place) => ({ ...place, isThere: true })));
          }
          await forgetOldStates(chain, window, slices);
          forgetOldBlocks(chain, window);
          onProgress(done);
          await slices.pause();
        }
        if (file.cutBytes > 0) {
          const fields = { file: path, bytes: file.cutBytes, lastSeqno: chain.lastSeqno };
          logger.warn(fields, 'the last block was not written to its end: what there was of it is cut off');
        }
        logger.info({ file: path, blocks: chain.lastSeqno - from }, 'the stored network is loaded');
        return { accounts, absentLibraries };
      },
      append: (step) => file.append(writeStep(step)),
      appendAbsent: (place) => file.append(writeRecord({ absent: place }, [])),
      appendAbsentLibrary: (hash) => file.append(writeRecord({ absentLibrary: hash }, [])),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function addStep(path: string, chain: GrowingChain, { blocks, signatures }: PersistedStep): void {
  for (const block of blocks) {
    try {
      const own = block.id.workchain === MASTERCHAIN ? signatures : undefined;
      chain.add(block, stateAfter(chain, block), own);
    } catch (error) {
      throw keptNetworkInvalid(path, `The step after block ${chain.lastSeqno} does not follow from it.`, error);
    }
  }
}

// Writes a record: the length of a JSON text, the text, and the bytes whose lengths the text has. Buffers in the text are hex.

function writeRecord(facts: object, parts: readonly Buffer[]): Buffer {
  const text = Buffer.from(
    JSON.stringify(facts, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString(16) : asHex(value))),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, ...parts]);
}

/** `JSON.stringify` has made objects of buffers before it asks. */
function asHex(value: unknown): unknown {
  const isBuffer = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
  return isBuffer && 'data' in value ? Buffer.from(value.data as number[]).toString('hex') : value;
}

function readRecord(payload: Buffer): { readonly facts: unknown; readonly take: (bytes: number) => Buffer } {
  let at = 4 + payload.readUInt32LE(0);
  const facts: unknown = JSON.parse(payload.toString('utf8', 4, at));
  return {
    facts,
    // A copy, because the chain retains blocks. A view would retain the whole record with each.
    take: (bytes) => Buffer.from(payload.subarray(at, (at += bytes))),
  };
}

type IdFacts = {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
  readonly rootHash: string;
  readonly fileHash: string;
};

type BlockFacts = IdFacts & { readonly bytes: number };

function describe(id: BlockId, bytes: Buffer): object {
  return { ...id, bytes: bytes.length };
}

function readId({ workchain, shard, seqno, rootHash, fileHash }: IdFacts): BlockId {
  return {
    workchain,
    shard: BigInt(`0x${shard}`),
    seqno,
    rootHash: Buffer.from(rootHash, 'hex'),
    fileHash: Buffer.from(fileHash, 'hex'),
  };
}

function writeOrigin({ validators, consensus, zeroStates, fork }: NetworkOrigin): Buffer {
  const zeros = zeroStates.map(({ id, bytes }) => describe(id, bytes));
  return writeRecord(
    { format: FORMAT, validators, consensus, zeros, fork },
    zeroStates.map(({ bytes }) => bytes),
  );
}

type OriginFacts = Omit<NetworkOrigin, 'zeroStates' | 'fork'> & {
  readonly format: number;
  readonly zeros: BlockFacts[];
  readonly fork?: { readonly zeroState: IdFacts; readonly block: IdFacts };
};

function readOrigin(path: string, payload: Buffer): NetworkOrigin {
  const { facts, take } = readRecord(payload);
  const { format, validators, consensus, zeros, fork } = facts as OriginFacts;
  if (format !== FORMAT)
    throw keptNetworkInvalid(path, `It has format ${format}; this release reads format ${FORMAT}.`);
  return {
    validators,
    consensus,
    zeroStates: zeros.map((zero) => ({ id: readId(zero), bytes: take(zero.bytes) })),
    fork: fork && { zeroState: readId(fork.zeroState), block: readId(fork.block) },
  };
}

type SetFacts = {
  readonly kind: 'ordinary' | 'simplex';
  readonly catchainSeqno: number;
  readonly validatorSetHash: number;
  readonly signatures: readonly { readonly nodeIdShort: string; readonly signature: string }[];
  readonly sessionId?: string;
  readonly slot?: number;
  readonly candidate?: string;
};

type PlaceFacts = { readonly workchain: number; readonly id: string };

type StepFacts = {
  readonly masterchainSeqno: number;
  readonly blocks: BlockFacts[];
  readonly set: SetFacts;
  readonly brought?: readonly PlaceFacts[];
};

/** A record behind the first: a step, or an account or a library that the forked network does not have. */
type EntryFacts = StepFacts | { readonly absent: PlaceFacts } | { readonly absentLibrary: string };

function writeStep({ blocks, signatures: set, brought = [] }: PersistedStep): Buffer {
  const { masterchainSeqno } = blocks[0]!;
  const places = brought.length === 0 ? undefined : brought.map(({ workchain, id }) => ({ workchain, id }));
  return writeRecord(
    { masterchainSeqno, blocks: blocks.map(({ id, bytes }) => describe(id, bytes)), set, brought: places },
    blocks.map(({ bytes }) => bytes),
  );
}

type Entry = { readonly step?: PersistedStep; readonly absent?: AccountPlace; readonly absentLibrary?: Buffer };

function readEntry(payload: Buffer): Entry {
  const { facts, take } = readRecord(payload);
  const entry = facts as EntryFacts;
  if ('absent' in entry) return { absent: readPlace(entry.absent) };
  if ('absentLibrary' in entry) return { absentLibrary: Buffer.from(entry.absentLibrary, 'hex') };
  const { masterchainSeqno, blocks, set, brought = [] } = entry;
  return {
    step: {
      blocks: blocks.map((one) => ({ id: readId(one), bytes: take(one.bytes), masterchainSeqno })),
      signatures: readSet(set),
      brought: brought.map(readPlace),
    },
  };
}

function readPlace({ workchain, id }: PlaceFacts): AccountPlace {
  return { workchain, id: Buffer.from(id, 'hex') };
}

function readSet({ kind, catchainSeqno, validatorSetHash, signatures, ...rest }: SetFacts): SignatureSet {
  const shared = {
    catchainSeqno,
    validatorSetHash,
    signatures: signatures.map(({ nodeIdShort, signature }) => ({
      nodeIdShort: Buffer.from(nodeIdShort, 'hex'),
      signature: Buffer.from(signature, 'hex'),
    })),
  };
  if (kind === 'ordinary') return { kind, ...shared };
  const { sessionId = '', slot = 0, candidate = '' } = rest;
  return { kind, ...shared, sessionId: Buffer.from(sessionId, 'hex'), slot, candidate: Buffer.from(candidate, 'hex') };
}
