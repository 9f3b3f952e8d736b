import { shown, type ConfigProblem } from './errors.ts';
import { readSlices, type LiteServerSlice } from './slices.ts';

/** Configured lite server. */
export type LiteServerEntry = {
  /** Unique, for logs and metrics. */
  readonly name: string;
  /** IPv4, IPv6 (without brackets) or a host name. */
  readonly host: string;
  readonly port: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  /** `archive` servers have old states, `latest` servers only recent ones. */
  readonly role: 'latest' | 'archive';
  /** Share of reads relative to other servers, 1..100. */
  readonly weight: number;
  /** Most queries in flight. */
  readonly maxInFlight: number;
  /** Tier. A plan reads from the tiers in its `liteServerTiers`, and from both without that field. */
  readonly tier: 'shared' | 'private';
  /** If true, the server gets no reads, but is still monitored. */
  readonly cordoned: boolean;
  /** Parts of the chain that the server has; null: all. */
  readonly slices: readonly LiteServerSlice[] | null;
};

/** Masterchain block that is trusted without a proof; same shape as `BlockId`. */
export type AnchorBlock = {
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly rootHash: Buffer;
  readonly fileHash: Buffer;
};

/** Blocks where trust begins. */
export type Anchors = {
  /** Zero state (seqno 0). It identifies the network: it must equal `init` of getMasterchainInfo. */
  readonly zeroState: AnchorBlock;
  /** Key block or zero state at which the chain of proofs starts. */
  readonly initBlock: AnchorBlock;
};

/** Part of the ecosystem's `global.config.json` that the service uses (service/liteserver/README.md#global-config). */
export type GlobalConfig = {
  readonly liteServers: readonly LiteServerEntry[];
  /** Null when the file has no `validator.zero_state`. */
  readonly anchors: Anchors | null;
};

type Fields = Readonly<Record<string, unknown>>;

/** Most bytes of the file; public files are below 100 kB. */
export const GLOBAL_CONFIG_BYTES_MAX = 4 * 1024 * 1024;

/** Most lite servers, far above every public list; each entry costs a connection. */
const LITE_SERVERS_MAX = 256;

const MASTERCHAIN = -1;
const FULL_SHARD = 0x8000000000000000n;

/** Defaults of the custom resource for lite servers given there. */
const defaults = { role: 'latest', weight: 10, maxInFlight: 256, tier: 'shared', cordoned: false } as const;

/**
 * Reads a `global.config.json`. Lite servers of `liteservers` have the whole chain. Lite servers of `liteservers_v2` have the listed slices of it. A
 * lite server is left out if all of its slices have unknown forms.
 *
 * @param problems receives every problem, with its path in the file
 * @returns undefined when there were problems
 */
export function readGlobalConfig(text: string, problems: ConfigProblem[]): GlobalConfig | undefined {
  const before = problems.length;
  const document = parseJson(text, problems);
  if (document === undefined) return undefined;
  const report = (path: string, expected: string): void => void problems.push({ path, expected });
  const first = readServers(document['liteservers'], 'liteservers', report);
  const second = readServers(document['liteservers_v2'], 'liteservers_v2', report);
  const liteServers = [...first, ...second].map((entry, index) => ({ name: `ls-${index}`, ...entry, ...defaults }));
  if (problems.length === before && (liteServers.length === 0 || liteServers.length > LITE_SERVERS_MAX)) {
    report('liteservers', `expected 1 to ${LITE_SERVERS_MAX} lite servers, got ${liteServers.length}`);
  } else if (problems.length === before && !liteServers.some(({ slices }) => hasNewest(slices))) {
    report(
      'liteservers',
      'expected a lite server that has the newest blocks, got only lite servers with slices of the past',
    );
  }
  const validator = document['validator'];
  const anchors = isFields(validator) ? readAnchors(validator, report) : null;
  return problems.length > before ? undefined : { liteServers, anchors };
}

function parseJson(text: string, problems: ConfigProblem[]): Fields | undefined {
  if (Buffer.byteLength(text) > GLOBAL_CONFIG_BYTES_MAX) {
    problems.push({ path: '', expected: `expected at most ${GLOBAL_CONFIG_BYTES_MAX} bytes` });
    return undefined;
  }
  try {
    const document: unknown = JSON.parse(text);
    if (isFields(document)) return document;
    problems.push({ path: '', expected: 'expected a JSON object' });
  } catch (error) {
    // The parser's message quotes the text, which may come from a Secret, so only the position is used.
    const place = /position \d+/.exec((error as Error).message)?.[0];
    problems.push({
      path: '',
      expected: place === undefined ? 'expected JSON' : `expected JSON, got an error at ${place}`,
    });
  }
  return undefined;
}

type Report = (path: string, expected: string) => void;

type ServerAddress = Pick<LiteServerEntry, 'host' | 'port' | 'publicKey'>;

function readServers(list: unknown, path: string, report: Report): (ServerAddress & Pick<LiteServerEntry, 'slices'>)[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    report(path, 'expected an array');
    return [];
  }
  return list.flatMap((entry: unknown, index) => {
    const at = `${path}[${index}]`;
    if (!isFields(entry)) {
      report(at, 'expected an object');
      return [];
    }
    const slices = readSlices(entry['slices'], `${at}.slices`, report);
    if (slices?.length === 0) return [];
    return readServer(entry, at, report).map((server) => ({ ...server, slices }));
  });
}

function hasNewest(slices: LiteServerEntry['slices']): boolean {
  return slices === null || slices.some(({ to }) => to.length === 0);
}

function readServer(entry: Fields, path: string, report: Report): ServerAddress[] {
  const hostname = entry['hostname'];
  const named = typeof hostname === 'string' && hostname !== '' ? splitHost(hostname) : undefined;
  const host = named?.host ?? dottedQuad(entry['ip']);
  const port = named?.port ?? entry['port'];
  const id = entry['id'];
  const publicKey = isFields(id) ? bytes32(id['key']) : undefined;
  const portFits = typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;
  if (host === undefined)
    report(`${path}.ip`, `expected a signed 32-bit integer, or a hostname, got ${shown(entry['ip'])}`);
  if (!portFits) report(`${path}.port`, `expected a whole number from 1 to 65535, got ${shown(port)}`);
  if (publicKey === undefined) report(`${path}.id.key`, 'expected base64 of 32 bytes');
  return host !== undefined && portFits && publicKey !== undefined ? [{ host, port, publicKey }] : [];
}

/** Splits `ls.example:443`, `[::1]:443`, or a bare host whose port is in another field. */
function splitHost(text: string): { host: string; port: number | undefined } {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return { host: text, port: undefined };
  return { host: match[1] ?? match[2] ?? text, port: match[3] === undefined ? undefined : Number(match[3]) };
}

/** Returns IPv4 from a 32-bit integer, signed as in the ecosystem's files (unsigned is accepted too). */
function dottedQuad(ip: unknown): string | undefined {
  if (typeof ip !== 'number' || !Number.isInteger(ip) || ip < -(2 ** 31) || ip >= 2 ** 32 || ip === 0) return undefined;
  return [ip >>> 24, (ip >>> 16) & 255, (ip >>> 8) & 255, ip & 255].join('.');
}

/** Reads the anchors. The hard fork with the highest seqno replaces an init block below it. */
function readAnchors(validator: Fields, report: Report): Anchors | null {
  const path = 'validator';
  const zeroState = isEmpty(validator['zero_state'])
    ? null
    : readBlock(validator['zero_state'], `${path}.zero_state`, report);
  const initBlock = isEmpty(validator['init_block'])
    ? zeroState
    : readBlock(validator['init_block'], `${path}.init_block`, report);
  const list = validator['hardforks'] ?? [];
  if (!Array.isArray(list)) report(`${path}.hardforks`, 'expected an array');
  const forks = (Array.isArray(list) ? list : []).map((fork, index) =>
    readBlock(fork, `${path}.hardforks[${index}]`, report),
  );
  if (zeroState !== null && zeroState.seqno !== 0)
    report(`${path}.zero_state.seqno`, `expected 0, got ${zeroState.seqno}`);
  if (zeroState === null && initBlock !== null)
    report(`${path}.zero_state`, 'expected a block, because init_block is set');
  if (zeroState === null || initBlock === null) return null;
  const newest = forks.reduce<AnchorBlock>(
    (best, fork) => (fork !== null && fork.seqno > best.seqno ? fork : best),
    initBlock,
  );
  return { zeroState, initBlock: newest };
}

function readBlock(value: unknown, path: string, report: Report): AnchorBlock | null {
  if (!isFields(value)) {
    report(path, 'expected a block id');
    return null;
  }
  const { workchain, shard, seqno } = value;
  const rootHash = bytes32(value['root_hash']);
  const fileHash = bytes32(value['file_hash']);
  const seqnoFits = typeof seqno === 'number' && Number.isInteger(seqno) && seqno >= 0 && seqno < 2 ** 31;
  if (workchain !== MASTERCHAIN) report(`${path}.workchain`, `expected -1, got ${shown(workchain)}`);
  if (!isFullShard(shard)) report(`${path}.shard`, `expected -9223372036854775808, got ${shown(shard)}`);
  if (!seqnoFits) report(`${path}.seqno`, `expected a whole number below 2^31, got ${shown(seqno)}`);
  if (rootHash === undefined) report(`${path}.root_hash`, 'expected base64 of 32 bytes');
  if (fileHash === undefined) report(`${path}.file_hash`, 'expected base64 of 32 bytes');
  if (!seqnoFits || rootHash === undefined || fileHash === undefined) return null;
  return masterchainBlock(seqno, rootHash, fileHash);
}

/** Returns the id of a masterchain block. */
export function masterchainBlock(seqno: number, rootHash: Buffer, fileHash: Buffer): AnchorBlock {
  return { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno, rootHash, fileHash };
}

/**
 * Reports whether a value is the full shard, 2^63. It may be signed, unsigned, text, or a number rounded by a JSON reader. Doubles near 2^63 are 1024
 * apart, so a number that rounds to 2^63 means the full shard.
 */
function isFullShard(shard: unknown): boolean {
  return (typeof shard === 'number' || typeof shard === 'string') && Math.abs(Number(shard)) === 2 ** 63;
}

/** Decodes 32 bytes of base64, padded or not, in either alphabet; undefined for any other value. */
export function bytes32(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (isFields(value) && Object.keys(value).length === 0);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
