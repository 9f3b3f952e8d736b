import { readFile } from 'node:fs/promises';
import pino from 'pino';
import { Registry } from 'prom-client';
import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { lookupHashmap } from '#service/decode/hashmap.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { Account } from '#service/decode/tlb/account.ts';
import { readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readShardState, readShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import type { Chain, ChainBlock } from '#service/devchain/chain/chain.ts';
import type { FetchLibrary } from '#service/tvm/libraries.ts';
import type { TvmOptions } from '#service/tvm/options.ts';
import type { PreviousBlocks } from '#service/tvm/previous-blocks.ts';
import type { Tvm, TvmConfig } from '#service/tvm/tvm.ts';
import { createTvm } from '#service/tvm/tvm.ts';

/** Longest run. On a busy machine a run of 0.2 s of CPU took 2 s. A test bounds runs by gas, or gives its own limit. */
const WALL_MS = 60_000;

/** Creates a TVM for a test, and the register of its metrics. */
export function startTvm(options: TvmOptions = {}): { readonly tvm: Tvm; readonly register: Registry } {
  const register = new Registry();
  const logger = pino({ level: 'silent' });
  return {
    tvm: createTvm({ wallTimeMs: WALL_MS, ...options }, { register, logger, now: () => performance.now() }),
    register,
  };
}

/** Returns the parsed lines of a recording's file; none when the file is missing. */
export async function readRecords<T>(file: string): Promise<T[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** Returns the configuration in force after a masterchain block. */
export function configAfter(chain: Chain, block: ChainBlock): TvmConfig {
  const { states } = chain;
  const { root } = readMasterchainStateExtra(states, readShardState(states, block.state).custom!).config;
  return { hash: states.hash(root), boc: writeBoc(states, [root]) };
}

/** Returns the previous blocks that `get_prev_blocks_info` of the node gives for a masterchain block's state. */
export function previousBlocksOf(chain: Chain, seqno: number): PreviousBlocks {
  const zero = chain.zeroStates.find(({ id }) => id.workchain === MASTERCHAIN)!.id;
  const idOf = (at: number): BlockId => (at === 0 ? zero : chain.masterchain(at)!.id);
  const countDown = (from: number, step: number): BlockId[] =>
    Array.from({ length: Math.min(16, Math.floor(from / step) + 1) }, (_, index) => idOf(from - index * step));
  return {
    last: countDown(seqno, 1),
    lastKeyBlock: idOf(chain.keyBlocks.findLast((key) => key <= seqno) ?? 0),
    lastHundreds: countDown(seqno - (seqno % 100), 100),
  };
}

/** Returns an account after a masterchain block, and the block of its shard with the state. */
export function accountAt(
  chain: Chain,
  seqno: number,
  { workchain, id }: { readonly workchain: number; readonly id: Buffer },
): { readonly block: ChainBlock; readonly cell: number | undefined; readonly account: Account | undefined } {
  const block = chain.along(workchain, id.readBigUInt64BE(0)).findLast((one) => one.masterchainSeqno <= seqno)!;
  const { states } = chain;
  const found = findShardAccount(states, readShardState(states, block.state).accounts, id);
  return { block, cell: found?.account, account: found && readAccount(states, found.account) };
}

/** Returns a bag of cells of one cell of the states; null for none. */
export function bocOf(chain: Chain, cell: number | undefined): Buffer | null {
  return cell === undefined ? null : writeBoc(chain.states, [cell]);
}

/** Returns the public libraries in the state of a masterchain block; `asked` counts the fetches. */
export function librariesAfter(chain: Chain, block: ChainBlock): FetchLibrary & { asked: number } {
  const { states } = chain;
  const { libraries } = readShardStateDetails(states, readShardState(states, block.state).details);
  const fetch = async (hash: Buffer): Promise<Buffer | undefined> => {
    fetch.asked++;
    const entry = lookupHashmap(states, libraries, 256, hash);
    entry?.skip(2);
    return entry && writeBoc(states, [entry.ref()]);
  };
  fetch.asked = 0;
  return fetch;
}

/** Returns a cell of these bytes as a bag of cells, for code written by hand. */
export function writeCell(data: Buffer): Buffer {
  const store = createCellStore();
  return writeBoc(store, [store.add({ data, bitLength: data.length * 8, refs: [] })]);
}
