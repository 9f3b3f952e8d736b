import { shown } from './errors.ts';

/** Start or end of a slice in one shard. */
export type SlicePlace = {
  readonly workchain: number;
  /** Shard as 64 unsigned bits: prefix, then a 1, then zeros. */
  readonly shard: bigint;
  readonly seqno: number;
  /** Unix seconds. */
  readonly utime: number;
  readonly lt: bigint;
};

/** Part of the chain that a lite server has: some shards, from a first block to a last block (service/liteserver/README.md#global-config). */
export type LiteServerSlice = {
  /** Start of the slice, for each shard of the slice. */
  readonly from: readonly SlicePlace[];
  /** End of the slice. Empty: the slice includes the newest blocks. */
  readonly to: readonly SlicePlace[];
};

type Fields = Readonly<Record<string, unknown>>;
type Report = (path: string, expected: string) => void;

/** Most shards of a slice, far above any network. */
const PLACES_MAX = 1_024;

/** Most slices of a lite server. The ecosystem's tools write one or two. */
const SLICES_MAX = 64;

const MASTERCHAIN = -1;
const FULL_SHARD = 1n << 63n;

/** Masterchain part of every slice. Every lite server has the masterchain, because it lists the shards. */
const masterchain: SlicePlace = { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno: 0, utime: 0, lt: 0n };

/**
 * Reads `slices` of a lite server in `liteservers_v2`. Returns null for the whole chain, an empty list when all forms are unknown. Problems go to
 * `report`.
 */
export function readSlices(value: unknown, path: string, report: Report): readonly LiteServerSlice[] | null {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return null;
  if (!Array.isArray(value) || value.length > SLICES_MAX) {
    report(path, `expected a list of at most ${SLICES_MAX} slices`);
    return null;
  }
  const slices = value.map((slice: unknown, index) => readSlice(slice, `${path}[${index}]`, report));
  return slices.includes('everything') ? null : slices.filter((slice) => typeof slice === 'object');
}

function readSlice(value: unknown, path: string, report: Report): LiteServerSlice | 'everything' | undefined {
  const slice = isFields(value) ? value : {};
  switch (slice['@type']) {
    case 'liteserver.descV2.sliceSimple': {
      const shards = readList(slice['shards'], `${path}.shards`, report, readShard);
      return shards.length === 0 ? 'everything' : { from: [masterchain, ...shards], to: [] };
    }
    case 'liteserver.descV2.sliceTimed': {
      const from = readList(slice['shards_from'], `${path}.shards_from`, report, readPlace);
      const to = readList(slice['shards_to'], `${path}.shards_to`, report, readPlace);
      return from.length === 0 && to.length === 0 ? undefined : { from, to };
    }
    default:
      return undefined;
  }
}

function readList(
  value: unknown,
  path: string,
  report: Report,
  read: (item: unknown, path: string, report: Report) => SlicePlace | undefined,
): SlicePlace[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > PLACES_MAX) {
    report(path, `expected a list of at most ${PLACES_MAX} shards`);
    return [];
  }
  return value.flatMap((item: unknown, index) => read(item, `${path}[${index}]`, report) ?? []);
}

function readPlace(value: unknown, path: string, report: Report): SlicePlace | undefined {
  const fields = isFields(value) ? value : {};
  const shard = readShard(fields['shard_id'], `${path}.shard_id`, report);
  const [seqno, utime, lt] = ['seqno', 'utime', 'lt'].map((name) => {
    const number = wholeNumber(fields[name] ?? 0);
    if (number === undefined || number < 0n)
      report(`${path}.${name}`, `expected a whole number, got ${shown(fields[name])}`);
    return number ?? 0n;
  });
  return shard && { ...shard, seqno: Number(seqno), utime: Number(utime), lt: lt ?? 0n };
}

function readShard(value: unknown, path: string, report: Report): SlicePlace | undefined {
  const { workchain, shard } = isFields(value) ? value : {};
  const chain = wholeNumber(workchain);
  const prefix = wholeNumber(shard);
  if (chain === undefined || prefix === undefined || prefix === 0n) {
    report(path, 'expected a workchain and a shard');
    return undefined;
  }
  return { ...masterchain, workchain: Number(chain), shard: BigInt.asUintN(64, prefix) };
}

/**
 * Reads a 64-bit number from JSON: text, or a number rounded by a reader. Shards with a prefix of up to 52 bits survive the rounding. 2^63 rounds to
 * itself and is the full shard with either sign.
 */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^(?:-?\d{1,20}|0x[0-9a-fA-F]{1,16})$/.test(value) ? BigInt(value) : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
