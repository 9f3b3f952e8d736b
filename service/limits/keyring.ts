import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';

import { LimitsError } from './errors.ts';
import { createKeyTableBuilder, type KeyTable, type KeyTerms } from './key-table.ts';
import { createKeyringReader } from './keyring-reader.ts';
import { keyMatches, parseKey } from './keys.ts';

/** A row given in code: what the keyring file says of a key. */
export type KeyRow = KeyTerms & {
  /** Public half, 12 base-62 digits. */
  readonly id: string;
  /** SHA-256 of the whole key text, 32 bytes. */
  readonly sha256: Buffer;
};

/** A key in force. */
export type FoundKey = { readonly id: string; readonly terms: KeyTerms };

/** The keys in force. */
export type Keyring = {
  /** Undefined when the text is no key, its id or secret is unknown, or it has expired. */
  find(key: string, unixMs: number): FoundKey | undefined;
  has(id: string): boolean;
  /** Ids with the plan they name, of keys whose plan is none of these; at most 20. */
  withOtherPlans(plans: ReadonlySet<string>): { readonly id: string; readonly plan: string }[];
  readonly size: number;
  /** Looks at the file now; resolves when what it holds is in force or was refused. */
  reload(): Promise<void>;
  close(): void;
};

export type KeyringOptions = {
  /**
   * A JSON file `{"keys": [{"id", "sha256" (64 hex digits), "plan", "owner"?, "networks"?, "notAfter"? (RFC 3339), "allowedMethods"?,
   * "allowedSources"? (CIDR), "overrides"? {"requestsPerSecond"?, "burst"?}}]}`.
   */
  readonly file?: string | undefined;
  /** Rows besides the file's, as for a key made at start. */
  readonly rows?: readonly KeyRow[];
  /** Plans that keys may name: a changed file that names another is refused. Any plan when absent. */
  readonly plans?: ReadonlySet<string>;
  /** How often the file is looked at; never when absent. */
  readonly pollMs?: number;
};

export type KeyringDependencies = { readonly logger: Logger; readonly register: Registry };

/** A change is in force within two of these: the time to see it and the time to read a million keys. */
export const keyringPollMs = 500;

/** A million rows fit; a bigger file is not a keyring. */
const fileBytesMax = 256 * 1024 * 1024;

/** Read at once: 20 ms of work, after which requests have their turn. */
const chunkBytes = 512 * 1024;

/** The first problems tell what is wrong; a million would not. */
const problemsMax = 20;

type Loaded = { readonly table: KeyTable; readonly sha256: string | null };

/**
 * Loads the keyring and follows its file: a changed file is in force within 2 s, a bad one is refused whole and the keys before it stay.
 * Throws LimitsError `keyring_invalid` with every problem found (at most 20) when the file is bad at start.
 */
export function createKeyring(options: KeyringOptions, dependencies?: KeyringDependencies): Keyring {
  const { file, plans } = options;
  const given = tableOf(options.rows ?? []);
  let loaded = file === undefined ? noKeys : readFileNow(file);
  let seen = file === undefined ? '' : stampOf(statSync(file, { bigint: true }));
  refuseTwice(given, loaded.table);
  const metrics = dependencies && createKeyringMetrics(dependencies.register);
  metrics?.inForce(loaded.sha256);
  let reloading: Promise<void> | undefined;

  const load = async (path: string): Promise<void> => {
    try {
      const stamp = stampOf(await stat(path, { bigint: true }));
      if (stamp === seen) return;
      // Also when the content is refused: it is told once, and read again when it changes.
      seen = stamp;
      const next = await readFileInTurns(path);
      refuseTwice(given, next.table);
      const strangers = plans === undefined ? [] : withOtherPlans([next.table], plans);
      if (strangers.length > 0) throw planProblems(strangers);
      loaded = next;
      metrics?.inForce(next.sha256);
      metrics?.loaded();
      dependencies?.logger.info({ keys: next.table.size, sha256: next.sha256 }, 'keyring in force');
    } catch (cause) {
      const error = cause instanceof LimitsError ? cause : unreadable(cause);
      if (!(cause instanceof LimitsError)) {
        // Told once, however long it stays away.
        if (seen === missing) return;
        seen = missing;
      }
      metrics?.refused();
      dependencies?.logger.error({ problems: error.data.problems }, 'keyring file refused, the keys before it stay');
    }
  };

  const reload = (): Promise<void> => {
    if (file === undefined) return Promise.resolve();
    reloading ??= load(file).finally(() => (reloading = undefined));
    return reloading;
  };
  const timer = options.pollMs === undefined ? undefined : setInterval(() => void reload(), options.pollMs);
  timer?.unref();

  return {
    find(key, unixMs) {
      const id = parseKey(key)?.id;
      if (id === undefined) return undefined;
      const table = loaded.table.indexOf(id) >= 0 ? loaded.table : given;
      const index = table.indexOf(id);
      if (index < 0 || !keyMatches(key, table.sha256At(index))) return undefined;
      const terms = table.termsAt(index);
      return terms.notAfterMs !== undefined && unixMs >= terms.notAfterMs ? undefined : { id, terms };
    },
    has: (id) => loaded.table.indexOf(id) >= 0 || given.indexOf(id) >= 0,
    withOtherPlans: (names) => withOtherPlans([given, loaded.table], names),
    get size() {
      return loaded.table.size + given.size;
    },
    reload,
    close: () => clearInterval(timer),
  };
}

/** The keys of a keyring file's text. Throws LimitsError `keyring_invalid`. */
export function parseKeyring(text: string): KeyTable {
  const reader = createKeyringReader();
  reader.feed(Buffer.from(text));
  return reader.end().table;
}

/** Problems of keys that name plans which do not exist. */
export function planProblems(keys: readonly { readonly id: string; readonly plan: string }[]): LimitsError {
  const problems = keys.map(({ id, plan }) => `key ${id}: expected a plan that exists, got ${JSON.stringify(plan)}`);
  return new LimitsError('limit_plan_unknown', problems);
}

const noKeys: Loaded = { table: createKeyTableBuilder().build(), sha256: null };

/** Stamp of a file that could not be read. */
const missing = 'missing';

function tableOf(rows: readonly KeyRow[]): KeyTable {
  const builder = createKeyTableBuilder();
  for (const { id, sha256, ...terms } of rows) {
    if (!builder.add(id, sha256.toString('hex'), terms)) throw twice(id);
  }
  return builder.build();
}

function refuseTwice(given: KeyTable, table: KeyTable): void {
  for (let index = 0; index < given.size; index++) {
    if (table.indexOf(given.idAt(index)) >= 0) throw twice(given.idAt(index));
  }
}

function withOtherPlans(tables: readonly KeyTable[], plans: ReadonlySet<string>): { id: string; plan: string }[] {
  const found: { id: string; plan: string }[] = [];
  for (const table of tables) {
    for (let index = 0; index < table.size && found.length < problemsMax; index++) {
      const { plan } = table.termsAt(index);
      if (!plans.has(plan)) found.push({ id: table.idAt(index), plan });
    }
  }
  return found;
}

function readFileNow(path: string): Loaded {
  const reader = createKeyringReader();
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    refuseTooBig(statSync(path).size);
    const chunk = Buffer.alloc(chunkBytes);
    for (let bytes = readSync(descriptor, chunk); bytes > 0; bytes = readSync(descriptor, chunk)) {
      reader.feed(chunk.subarray(0, bytes));
    }
  } catch (error) {
    throw error instanceof LimitsError ? error : unreadable(error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  return reader.end();
}

async function readFileInTurns(path: string): Promise<Loaded> {
  const reader = createKeyringReader();
  const handle = await open(path, 'r');
  try {
    refuseTooBig((await handle.stat()).size);
    const chunk = Buffer.alloc(chunkBytes);
    for (;;) {
      const { bytesRead } = await handle.read(chunk);
      if (bytesRead === 0) return reader.end();
      reader.feed(chunk.subarray(0, bytesRead));
      await nextTurn();
    }
  } finally {
    await handle.close();
  }
}

function refuseTooBig(bytes: number): void {
  if (bytes <= fileBytesMax) return;
  throw new LimitsError('keyring_invalid', [`keyring file: expected at most ${fileBytesMax} bytes, got ${bytes}`]);
}

/** Changes with every write and with every file put in the place of another. */
function stampOf(stats: { mtimeNs: bigint; ctimeNs: bigint; size: bigint; ino: bigint }): string {
  return `${stats.mtimeNs} ${stats.ctimeNs} ${stats.size} ${stats.ino}`;
}

function twice(id: string): LimitsError {
  return new LimitsError('keyring_invalid', [`key id ${id} is there twice`]);
}

function unreadable(error: unknown): LimitsError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return new LimitsError('keyring_invalid', [`keyring file cannot be read: ${code}`]);
}

function createKeyringMetrics(register: Registry) {
  const reloads = new Counter({
    name: 'ton_limits_keyring_reloads_total',
    help: 'Changes of the keyring file by result: loaded, or refused and the keys before it kept',
    labelNames: ['result'],
    registers: [register],
  });
  const info = new Gauge({
    name: 'ton_limits_keyring_info',
    help: 'Always 1; the label is the SHA-256 of the keyring file in force',
    labelNames: ['sha256'],
    registers: [register],
  });
  return {
    inForce(sha256: string | null): void {
      info.reset();
      if (sha256 !== null) info.labels(sha256).set(1);
    },
    loaded: () => reloads.labels('loaded').inc(),
    refused: () => reloads.labels('refused').inc(),
  };
}
