import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';

import { LimitsError } from './errors.ts';
import { openKeyTable, type KeyTable } from './key-table.ts';
import type { KeyTerms } from './key-terms.ts';
import { bytesOf, readKeyring, stampOf, unreadable, type ReadKeyring } from './keyring-files.ts';
import { createKeyringReader } from './keyring-reader.ts';
import { readKeyringInThread } from './keyring-thread.ts';
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
  /** Another number when what was found before may no longer be in force. */
  readonly version: number;
  /** SHA-256 over what the files in force hold, in hex; null without a file. */
  readonly sha256: string | null;
  /** Plans that keys may name from now on. A file that was refused is looked at again. */
  setPlans(plans: ReadonlySet<string>): void;
  /** Looks at the file now; resolves when what it holds is in force or was refused. */
  reload(): Promise<void>;
  close(): void;
};

export type KeyringOptions = {
  /** A JSON file of `KeyringRow`s (`service/config/keyring-row.ts`), plain or gzip, or a folder of such files, as mounted from Secrets. */
  readonly file?: string | undefined;
  /** Rows besides the file's, as for a key made at start. */
  readonly rows?: readonly KeyRow[];
  /** Plans that keys may name: a changed file that names another is refused. Any plan when absent. */
  readonly plans?: ReadonlySet<string>;
  /** How often the file is looked at; never when absent. */
  readonly pollMs?: number;
  /** Module of the thread that reads a large keyring; another place when the service is bundled. */
  readonly workerUrl?: URL;
};

export type KeyringDependencies = { readonly logger: Logger; readonly register: Registry };

/** A change is in force within two of these: the time to see it and the time to read a million keys. */
export const keyringPollMs = 500;

/** What is read again without a thread: 2,000 keys or 4 ms, while a thread takes 50 ms to start. */
const inlineBytesMax = 256 * 1024;

/** The first problems tell what is wrong; a million would not. */
const problemsMax = 20;

/**
 * Loads the keyring and follows its file: a changed file is in force within 2 s, a bad one is refused whole and the keys before it stay.
 * Throws LimitsError `keyring_invalid` with every problem found (at most 20) when the file is bad at start.
 */
export function createKeyring(options: KeyringOptions, dependencies?: KeyringDependencies): Keyring {
  const { file } = options;
  let { plans } = options;
  const given = tableOf(options.rows ?? []);
  const workerUrl = options.workerUrl ?? new URL('keyring-worker.ts', import.meta.url);
  const closing = new AbortController();
  let seen = file === undefined ? '' : stampAtStart(file);
  let loaded: Loaded = file === undefined ? noKeys : opened(readKeyring(file));
  refuseTwice(given, loaded.table);
  const metrics = dependencies && createKeyringMetrics(dependencies.register);
  metrics?.inForce(loaded.sha256);
  let version = 0;
  let refused = false;
  let reloading: Promise<void> | undefined;

  const load = async (path: string): Promise<void> => {
    try {
      const stamp = stampOf(path);
      if (stamp === seen) return;
      // Also when the content is refused: it is told once, and read again when it changes.
      seen = stamp;
      const isSmall = bytesOf(path) <= inlineBytesMax;
      const next = opened(isSmall ? readKeyring(path) : await readKeyringInThread(path, workerUrl, closing.signal));
      refuseTwice(given, next.table);
      const strangers = plans === undefined ? [] : withOtherPlans([next.table], plans);
      if (strangers.length > 0) throw planProblems(strangers);
      loaded = next;
      version++;
      metrics?.inForce(next.sha256);
      metrics?.loaded();
      dependencies?.logger.info({ keys: next.table.size, sha256: next.sha256 }, 'keyring in force');
    } catch (cause) {
      if (closing.signal.aborted) return;
      const error = cause instanceof LimitsError ? cause : unreadable(cause);
      if (!(cause instanceof LimitsError)) {
        // Told once, however long it stays away.
        if (seen === missing) return;
        seen = missing;
      }
      refused = true;
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
      let { table } = loaded;
      let index = table.indexOf(id);
      if (index < 0) {
        table = given;
        index = table.indexOf(id);
      }
      if (index < 0 || !keyMatches(key, table.sha256At(index))) return undefined;
      const terms = table.termsAt(index);
      return terms.notAfterMs !== undefined && unixMs >= terms.notAfterMs ? undefined : { id, terms };
    },
    has: (id) => loaded.table.indexOf(id) >= 0 || given.indexOf(id) >= 0,
    withOtherPlans: (names) => withOtherPlans([given, loaded.table], names),
    get size() {
      return loaded.table.size + given.size;
    },
    get version() {
      return version;
    },
    get sha256() {
      return loaded.sha256;
    },
    setPlans(names) {
      plans = names;
      if (refused) seen = '';
      refused = false;
    },
    reload,
    close() {
      clearInterval(timer);
      closing.abort();
    },
  };
}

/** The keys of a keyring file's text. Throws LimitsError `keyring_invalid`. */
export function parseKeyring(text: string): KeyTable {
  const reader = createKeyringReader();
  reader.feed(Buffer.from(text));
  reader.endFile();
  return openKeyTable(reader.end().keys);
}

/** Problems of keys that name plans which do not exist. */
export function planProblems(keys: readonly { readonly id: string; readonly plan: string }[]): LimitsError {
  const problems = keys.map(({ id, plan }) => `key ${id}: expected a plan that exists, got ${JSON.stringify(plan)}`);
  return new LimitsError('limit_plan_unknown', problems);
}

/** Keys in force; `sha256` null where there is no file. */
type Loaded = { readonly table: KeyTable; readonly sha256: string | null };

const noKeys: Loaded = { table: tableOf([]), sha256: null };

function opened({ keys, sha256 }: ReadKeyring): Loaded {
  return { table: openKeyTable(keys), sha256 };
}

/** Stamp of a file that could not be read. */
const missing = 'missing';

function stampAtStart(file: string): string {
  try {
    return stampOf(file);
  } catch (error) {
    throw unreadable(error);
  }
}

/** A table of the few rows that are given in code. */
function tableOf(rows: readonly KeyRow[]): KeyTable {
  const places = new Map<string, number>();
  const plans = new Map<string, number[]>();
  for (const [index, { id, plan }] of rows.entries()) {
    if (places.has(id)) throw twice(id);
    places.set(id, index);
    const examples = plans.get(plan) ?? [];
    plans.set(plan, examples);
    if (examples.length < problemsMax) examples.push(index);
  }
  const at = (index: number): KeyRow => {
    const row = rows[index];
    if (row === undefined) throw new RangeError('no key at this place');
    return row;
  };
  return {
    size: rows.length,
    indexOf: (id) => places.get(id) ?? -1,
    idAt: (index) => at(index).id,
    sha256At: (index) => at(index).sha256,
    termsAt: at,
    plans,
  };
}

function refuseTwice(given: KeyTable, table: KeyTable): void {
  for (let index = 0; index < given.size; index++) {
    if (table.indexOf(given.idAt(index)) >= 0) throw twice(given.idAt(index));
  }
}

function withOtherPlans(tables: readonly KeyTable[], names: ReadonlySet<string>): { id: string; plan: string }[] {
  const found = tables.flatMap((table) =>
    [...table.plans]
      .filter(([plan]) => !names.has(plan))
      .flatMap(([plan, examples]) => examples.map((index) => ({ id: table.idAt(index), plan }))),
  );
  return found.slice(0, problemsMax);
}

function twice(id: string): LimitsError {
  return new LimitsError('keyring_invalid', [`key id ${id} is there twice`]);
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
