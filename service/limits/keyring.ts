import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { LimitsError } from './errors.ts';
import { openKeyTable, type KeyTable } from './key-table.ts';
import type { KeyTerms } from './key-terms.ts';
import { bytesOf, readKeyring, stampOf, unreadable, type ReadKeyring } from './keyring-files.ts';
import { createKeyringReader } from './keyring-reader.ts';
import { readKeyringInThread } from './keyring-thread.ts';
import { keyMatches, parseKey } from './keys.ts';
import { createKeyringMetrics } from './metrics.ts';

/** Row given in code, with the fields of a row of the keyring file. */
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
  /** Returns undefined when the text is no key, its id or secret is unknown, or the key has expired. */
  find(key: string, unixMs: number): FoundKey | undefined;
  has(id: string): boolean;
  /** Returns ids with their plan, of keys whose plan is not in `plans`; at most 20. */
  withOtherPlans(plans: ReadonlySet<string>): { readonly id: string; readonly plan: string }[];
  readonly size: number;
  /** Changes whenever keys found before may have become invalid. */
  readonly version: number;
  /** SHA-256 over the contents of the files in force, in hex; null without a file. */
  readonly sha256: string | null;
  /** Sets the plans that keys may name. A refused file is read again. */
  setPlans(plans: ReadonlySet<string>): void;
  /** Reads the file now. Resolves when its contents are in force or refused. */
  reload(): Promise<void>;
  close(): void;
};

export type KeyringOptions = {
  /** A JSON file of `KeyringRow`s (`service/config/keyring-row.ts`), plain or gzip, or a folder of such files, as mounted from Secrets. */
  readonly file?: string | undefined;
  /** Rows besides the file's, for example a key made at start. */
  readonly rows?: readonly KeyRow[];
  /** Plans that keys may name. A changed file that names another plan is refused. Any plan is allowed when absent. */
  readonly plans?: ReadonlySet<string>;
  /** Milliseconds between checks of the file; the file is not followed when absent. */
  readonly pollMs?: number;
  /** Module of the thread that reads a large keyring. The URL differs when the service is bundled. */
  readonly workerUrl?: URL;
};

export type KeyringDependencies = { readonly logger: Logger; readonly register: Registry };

/** Milliseconds between checks. A change is in force within two of them: one to detect it, one to read a million keys. */
export const KEYRING_POLL_MS = 500;

/** Largest file read again without a thread: 2,000 keys, 4 ms. Starting a thread takes 50 ms. */
const INLINE_BYTES_MAX = 256 * 1024;

/** Most reported problems. The first ones show the cause. */
const PROBLEMS_MAX = 20;

/**
 * Loads the keyring and follows its file. A changed file is in force within 2 s. A bad file is refused whole, and the previous keys stay. Throws
 * LimitsError `keyring_invalid` with every problem found (at most 20) when the file is bad at start.
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
      // A refused file is remembered too: it is logged once, and read again when it changes.
      seen = stamp;
      const isSmall = bytesOf(path) <= INLINE_BYTES_MAX;
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
        // A missing file is logged once, however long it stays missing.
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

/** Returns the keys in the text of a keyring file. Throws LimitsError `keyring_invalid`. */
export function parseKeyring(text: string): KeyTable {
  const reader = createKeyringReader();
  reader.feed(Buffer.from(text));
  reader.endFile();
  return openKeyTable(reader.end().keys);
}

/** Returns the problems of keys that name plans that do not exist. */
export function planProblems(keys: readonly { readonly id: string; readonly plan: string }[]): LimitsError {
  const problems = keys.map(({ id, plan }) => `key ${id}: expected a plan that exists, got ${JSON.stringify(plan)}`);
  return new LimitsError('limit_plan_unknown', problems);
}

/** Keys in force. `sha256` is null without a file. */
type Loaded = { readonly table: KeyTable; readonly sha256: string | null };

const noKeys: Loaded = { table: tableOf([]), sha256: null };

function opened({ keys, sha256 }: ReadKeyring): Loaded {
  return { table: openKeyTable(keys), sha256 };
}

/** Stamp of an unreadable file. */
const missing = 'missing';

function stampAtStart(file: string): string {
  try {
    return stampOf(file);
  } catch (error) {
    throw unreadable(error);
  }
}

/** Builds a table of the few rows given in code. */
function tableOf(rows: readonly KeyRow[]): KeyTable {
  const places = new Map<string, number>();
  const plans = new Map<string, number[]>();
  for (const [index, { id, plan }] of rows.entries()) {
    if (places.has(id)) throw twice(id);
    places.set(id, index);
    const examples = plans.get(plan) ?? [];
    plans.set(plan, examples);
    if (examples.length < PROBLEMS_MAX) examples.push(index);
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
  return found.slice(0, PROBLEMS_MAX);
}

function twice(id: string): LimitsError {
  return new LimitsError('keyring_invalid', [`key id ${id} is there twice`]);
}
