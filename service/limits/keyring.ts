import { readFileSync, statSync } from 'node:fs';

import { LimitsError } from './errors.ts';
import { isKeyId, keyMatches, parseKey } from './keys.ts';

/** What is known of one key. */
export type KeyRow = {
  /** Public half, 12 base-62 digits. */
  readonly id: string;
  /** SHA-256 of the whole key text, 32 bytes. */
  readonly sha256: Buffer;
  /** Name of the plan. */
  readonly plan: string;
  /** Keys of one owner share one budget; a key without owner has its own. */
  readonly owner?: string;
  /** Networks the key is issued for; every network when absent. */
  readonly networks?: readonly string[];
  /** Unix milliseconds from which the key is unknown; never when absent. */
  readonly notAfterMs?: number;
};

/** The keys in force. */
export type Keyring = {
  /** The row of a key in force; undefined when the text is no key, its id or secret is unknown, or it has expired. */
  find(key: string, unixMs: number): KeyRow | undefined;
  rows(): Iterable<KeyRow>;
  readonly size: number;
};

export type KeyringOptions = {
  /** A JSON file `{"keys": [{"id", "sha256" (64 hex digits), "plan", "owner"?, "networks"?, "notAfter"? (RFC 3339)}]}`. */
  readonly file?: string | undefined;
  /** Rows besides the file's, as for a key made at start. */
  readonly rows?: readonly KeyRow[];
};

/** A million rows fit; a bigger file is not a keyring. */
const fileBytesMax = 256 * 1024 * 1024;

/** The first problems tell what is wrong; a million would not. */
const problemsMax = 20;

/** Loads the keyring. Throws LimitsError `keyring_invalid` with every problem found (at most 20). */
export function createKeyring(options: KeyringOptions): Keyring {
  const rows = [
    ...(options.file === undefined ? [] : parseKeyring(readKeyringFile(options.file))),
    ...(options.rows ?? []),
  ];
  const byId = new Map<string, KeyRow>();
  for (const row of rows) {
    if (byId.has(row.id)) throw new LimitsError('keyring_invalid', [`key id ${row.id} is there twice`]);
    byId.set(row.id, row);
  }
  return {
    find(key, unixMs) {
      const parsed = parseKey(key);
      const row = parsed === undefined ? undefined : byId.get(parsed.id);
      if (row === undefined || !keyMatches(key, row.sha256)) return undefined;
      return row.notAfterMs !== undefined && unixMs >= row.notAfterMs ? undefined : row;
    },
    rows: () => byId.values(),
    get size() {
      return byId.size;
    },
  };
}

/** Rows of a keyring file's text, in its order. Throws LimitsError `keyring_invalid`. */
export function parseKeyring(text: string): KeyRow[] {
  const entries = keyEntries(text);
  const problems: string[] = [];
  const rows: KeyRow[] = [];
  entries.forEach((entry, index) => {
    if (problems.length >= problemsMax) return;
    const before = problems.length;
    const row = readRow(entry, `keys[${index}]`, problems);
    if (row !== undefined && problems.length === before) rows.push(row);
  });
  if (problems.length > 0) throw new LimitsError('keyring_invalid', problems);
  return rows;
}

function readKeyringFile(path: string): string {
  let bytes: number;
  try {
    bytes = statSync(path).size;
  } catch (error) {
    throw new LimitsError('keyring_invalid', [`keyring file cannot be read: ${(error as NodeJS.ErrnoException).code}`]);
  }
  if (bytes > fileBytesMax) {
    throw new LimitsError('keyring_invalid', [`keyring file: expected at most ${fileBytesMax} bytes, got ${bytes}`]);
  }
  return readFileSync(path, 'utf8');
}

function keyEntries(text: string): unknown[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold a key put there by mistake.
    throw new LimitsError('keyring_invalid', ['keyring file: expected JSON']);
  }
  const keys = isRecord(document) ? document['keys'] : undefined;
  if (!Array.isArray(keys)) throw new LimitsError('keyring_invalid', ['keys: expected an array']);
  return keys;
}

const fieldNames = new Set(['id', 'sha256', 'plan', 'owner', 'networks', 'notAfter']);

/** Problems name the field and what was expected, not the value: a key pasted into the wrong field must not reach a log. */
function readRow(entry: unknown, path: string, problems: string[]): KeyRow | undefined {
  if (!isRecord(entry)) {
    problems.push(`${path}: expected an object`);
    return undefined;
  }
  const { id, sha256, plan, owner, networks, notAfter } = entry;
  const notAfterMs = typeof notAfter === 'string' ? Date.parse(notAfter) : Number.NaN;
  const expect = (holds: boolean, field: string, expected: string): void => {
    if (!holds) problems.push(`${path}.${field}: expected ${expected}`);
  };
  expect(typeof id === 'string' && isKeyId(id), 'id', '12 base-62 digits');
  expect(typeof sha256 === 'string' && /^[0-9a-fA-F]{64}$/.test(sha256), 'sha256', '64 hex digits');
  expect(isText(plan), 'plan', 'the name of a plan');
  expect(owner === undefined || isText(owner), 'owner', 'a name');
  expect(
    networks === undefined || (Array.isArray(networks) && networks.every(isText)),
    'networks',
    'an array of network names',
  );
  expect(notAfter === undefined || !Number.isNaN(notAfterMs), 'notAfter', 'an RFC 3339 time');
  expect(
    Object.keys(entry).every((name) => fieldNames.has(name)),
    '*',
    `only the fields ${[...fieldNames].join(', ')}`,
  );
  return {
    id: String(id),
    sha256: Buffer.from(String(sha256), 'hex'),
    plan: String(plan),
    ...(isText(owner) && { owner }),
    ...(Array.isArray(networks) && { networks: networks.map(String) }),
    ...(notAfter !== undefined && { notAfterMs }),
  };
}

/** Longest name of a plan, owner or network. */
const nameLengthMax = 253;

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= nameLengthMax;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
