import { BitWriter } from '#service/decode/bit-writer.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { updateHashmap } from '#service/decode/hashmap-writer.ts';
import { uintKey } from '#service/decode/hashmap.ts';
import { storeValidatorSet } from '#service/decode/tlb/validator-set.ts';
import type { ValidatorDescr } from '#service/decode/tlb/validator-set.ts';
import { CRITICAL_PARAMS, MANDATORY_PARAMS, VOTING_SETUP } from './contracts.ts';

/** Account ids of the network's own contracts in the masterchain, as on mainnet. */
export const CONFIG_ID = Buffer.alloc(32, 0x55);
export const ELECTOR_ID = Buffer.alloc(32, 0x33);

/** Money that is sent there never returns. */
const BLACKHOLE_ID = Buffer.alloc(32, 0xff);

/** The virtual machine and the rules of blocks: global version of mainnet in late 2026. */
const GLOBAL_VERSION = 14;

/** Statistics, bounced bodies, versions in headers, short dequeues, queue sizes, metadata, deferred messages. */
const CAPABILITIES = 0x1een;

export type GenesisConfigOptions = {
  /** Signed 32 bits: parameter 19, as in every block and state. */
  readonly globalId: number;
  readonly validators: readonly ValidatorDescr[];
  /** Unix seconds: the validators' term begins. */
  readonly utime: number;
  /** The basechain's zerostate. */
  readonly basechain: { readonly rootHash: Buffer; readonly fileHash: Buffer };
  /** Least and greatest depth of the basechain's splits. */
  readonly minSplit: number;
  readonly maxSplit: number;
  /** From a decision to split or merge to its beginning, and how long it may take. */
  readonly splitMergeDelaySeconds: number;
  readonly splitMergeIntervalSeconds: number;
  /** Another network's configuration, as a bag of cells. All parameters are copied, except the parameters that identify this network. */
  readonly base?: Buffer;
  /** Account id of the DNS root in the masterchain. Without it parameter 4 is absent. */
  readonly dnsRoot?: Buffer;
};

/** Formal term of the first validators in seconds. They stay until there are others. */
const TERM_SECONDS = 65_536;

type Write = (writer: BitWriter, store: CellStore) => BitWriter;

/** The configuration of a new network, with mainnet's prices and limits: the root of the dictionary. */
export function storeGenesisConfig(store: CellStore, options: GenesisConfigOptions): number {
  const cells = new Map<number, number>();
  for (const [param, write] of Object.entries({ ...fixedParams, ...ownParams(options) })) {
    cells.set(Number(param), write(new BitWriter(), store).finish(store));
  }
  const copied = { 9: MANDATORY_PARAMS, 10: CRITICAL_PARAMS, 11: VOTING_SETUP };
  for (const [param, text] of Object.entries(copied)) {
    const boc = parseBoc(Buffer.from(text, 'base64'));
    cells.set(Number(param), store.import(boc, boc.roots[0]!));
  }
  const { utime, validators: list } = options;
  const term = { utimeSince: utime, utimeUntil: utime + TERM_SECONDS };
  cells.set(34, storeValidatorSet(store, { ...term, main: list.length, list }));
  if (options.base === undefined) return storeParams(store, undefined, cells);
  const boc = parseBoc(options.base);
  const own = new Map([0, 1, 12, 19, 31, 34].map((param) => [param, cells.get(param)]));
  // There are no other validators, before or after, no temporary keys, and nothing to mint. The initial money is in the accounts.
  for (const param of [2, 6, 7, 32, 33, 35, 36, 37, 39]) own.set(param, undefined);
  return storeParams(store, store.import(boc, boc.roots[0]!), own);
}

/** Returns a configuration with changed parameters. A cell replaces a parameter, undefined removes it. */
export function storeParams(
  store: CellStore,
  root: number | undefined,
  params: ReadonlyMap<number, number | undefined>,
): number {
  const changes = [...params].map(([param, cell]) => ({
    key: uintKey(param, 32),
    write: cell === undefined ? undefined : (writer: BitWriter): void => void writer.ref(cell),
  }));
  return updateHashmap(store, root, { bits: 32 }, changes)!;
}

function ownParams(options: GenesisConfigOptions): Record<number, Write> {
  const { dnsRoot } = options;
  return {
    19: (writer) => writer.int(options.globalId, 32),
    ...(dnsRoot !== undefined && { 4: (writer: BitWriter) => writer.bytes(dnsRoot) }),
    12: (writer, store) => {
      const basechain = { key: uintKey(0, 32), write: (entry: BitWriter) => void writeWorkchain(entry, options) };
      return writer.maybeRef(updateHashmap(store, undefined, { bits: 32 }, [basechain]));
    },
  };
}

/** `workchain_v2#a7` with the format `wfmt_basic#1 vm_version:int32 vm_mode:uint64`. */
function writeWorkchain(writer: BitWriter, options: GenesisConfigOptions): BitWriter {
  const { minSplit, maxSplit, basechain, splitMergeDelaySeconds: delay, splitMergeIntervalSeconds: interval } = options;
  writer.uint(0xa7, 8).uint(0, 32).uint(0, 8).uint(minSplit, 8).uint(maxSplit, 8);
  // Basic, active and accepting messages, without flags.
  writer.uint(0b111, 3).uint(0, 13).bytes(basechain.rootHash).bytes(basechain.fileHash).uint(0, 32);
  writer.uint(1, 4).int(-1, 32).int(0, 64);
  // `wc_split_merge_timings#0`: the last two bound what nodes may choose.
  writer.uint(0, 4).uint(delay, 32).uint(interval, 32).uint(interval, 32).uint(Math.max(delay, 1000), 32);
  return writer.uint(0, 8);
}

/** The set of 256-bit account ids as `HashmapE 256 True`. */
function writeAccounts(writer: BitWriter, store: CellStore, ids: readonly Buffer[]): BitWriter {
  return writer.maybeRef(
    updateHashmap(
      store,
      undefined,
      { bits: 256 },
      ids.map((key) => ({ key, write: () => {} })),
    ),
  );
}

/**
 * `StoragePrices`, tag cc: per second and 65536th, of a bit and a cell in the basechain and in the masterchain. As on mainnet since 29 April
 * 2026.
 */
function writeStoragePrices(writer: BitWriter): void {
  writer.uint(0xcc, 8).uint(0, 32).int(0n, 64).int(135n, 64).int(1000n, 64).int(500_000n, 64);
}

/** `gas_flat_pfx#d1` around `gas_prices_ext#de`. */
function gasPrices(flat: [bigint, bigint], prices: readonly bigint[]): Write {
  return (writer) => {
    writer.uint(0xd1, 8).int(flat[0], 64).int(flat[1], 64).uint(0xde, 8);
    for (const price of prices) writer.int(price, 64);
    return writer;
  };
}

/** `block_limits#5d bytes gas lt_delta`, each `param_limits#c3 underload soft_limit hard_limit`. */
function blockLimits(limits: readonly (readonly [number, number, number])[]): Write {
  return (writer) => {
    writer.uint(0x5d, 8);
    for (const three of limits) {
      writer.uint(0xc3, 8);
      for (const limit of three) writer.uint(limit, 32);
    }
    return writer;
  };
}

/** `msg_forward_prices#ea`. */
function forwardPrices(lump: bigint, bit: bigint, cell: bigint): Write {
  return (writer) =>
    writer.uint(0xea, 8).int(lump, 64).int(bit, 64).int(cell, 64).uint(98_304, 32).uint(21_845, 16).uint(21_845, 16);
}

/** Parameters that are the same in all our networks. The TL-B is in `block.tlb`. */
const fixedParams: Record<number, Write> = {
  0: (writer) => writer.bytes(CONFIG_ID),
  1: (writer) => writer.bytes(ELECTOR_ID),
  // `burning_config#01`: half of the fees.
  5: (writer) => writer.uint(1, 8).bit(true).bytes(BLACKHOLE_ID).uint(1, 32).uint(2, 32),
  8: (writer) => writer.uint(0xc4, 8).uint(GLOBAL_VERSION, 32).int(CAPABILITIES, 64),
  13: (writer) => writer.uint(0x1a, 8).coins(1_000_000_000n).coins(1n).coins(500n),
  14: (writer) => writer.uint(0x6b, 8).coins(1_700_000_000n).coins(1_000_000_000n),
  15: (writer) => writer.uint(65_536, 32).uint(32_768, 32).uint(8192, 32).uint(32_768, 32),
  16: (writer) => writer.uint(400, 16).uint(100, 16).uint(1, 16),
  17: (writer) =>
    writer.coins(300_000_000_000_000n).coins(10_000_000_000_000_000n).coins(300_000_000_000_000n).uint(196_608, 32),
  18: (writer, store) => {
    const prices = { key: uintKey(0, 32), write: writeStoragePrices };
    const root = updateHashmap(store, undefined, { bits: 32 }, [prices])!;
    return writer.rest(new CellSlice(store, root));
  },
  20: gasPrices(
    [100n, 1_000_000n],
    [655_360_000n, 1_000_000n, 70_000_000n, 10_000n, 2_500_000n, 100_000_000n, 1_000_000_000n],
  ),
  21: gasPrices(
    [100n, 6667n],
    [4_369_067n, 1_000_000n, 1_000_000n, 10_000n, 10_000_000n, 100_000_000n, 1_000_000_000n],
  ),
  22: blockLimits([
    [131_072, 524_288, 1_048_576],
    [200_000, 1_000_000, 2_500_000],
    [1000, 5000, 10_000],
  ]),
  23: blockLimits([
    [131_072, 524_288, 1_048_576],
    [2_000_000, 10_000_000, 20_000_000],
    [1000, 5000, 10_000],
  ]),
  24: forwardPrices(10_000_000n, 655_360_000n, 65_536_000_000n),
  25: forwardPrices(66_667n, 4_369_067n, 436_906_667n),
  // `catchain_config_new#c2`, masterchain validators shuffled.
  28: (writer) => writer.uint(0xc2, 8).uint(1, 8).uint(250, 32).uint(250, 32).uint(1000, 32).uint(23, 32),
  // `consensus_config_v4#d9`.
  29: (writer) => {
    writer.uint(0xd9, 8).uint(1, 8).uint(3, 8);
    for (const value of [2000, 16_000, 3, 8, 4, 2_097_152, 2_097_152]) writer.uint(value, 32);
    return writer.uint(5, 16).uint(10_000, 32);
  },
  31: (writer, store) => writeAccounts(writer, store, [ELECTOR_ID, CONFIG_ID]),
  // `misbehaviour_punishment_config_v1#01`.
  40: (writer) => {
    writer.uint(1, 8).coins(101_000_000_000n).uint(0, 32).uint(0, 16).uint(0, 16).uint(1000, 16);
    for (const value of [80, 0, 0, 20, 0, 0]) writer.uint(value, 16);
    return writer;
  },
  // `size_limits_config_v2#02`: messages, libraries, external messages, accounts, queues.
  43: (writer) =>
    writer
      .uint(2, 8)
      .uint(2_097_152, 32)
      .uint(8192, 32)
      .uint(1000, 32)
      .uint(512, 16)
      .uint(65_535, 32)
      .uint(512, 16)
      .uint(65_536, 32)
      .uint(2048, 32)
      .uint(256, 32)
      .uint(256, 32)
      .uint(2, 32)
      .uint(8, 8)
      .uint(26, 32),
  44: (writer) => writer.uint(0, 8).bit(false).uint(0, 32),
  45: (writer) => writer.uint(0xc0, 8).bit(false),
};
