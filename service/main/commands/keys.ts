import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { parseCommandLine } from '#service/config/command-line.ts';
import type { KeyringRow } from '#service/config.ts';
import { parseKeyring } from '#service/limits/keyring.ts';
import { makeKey } from '#service/limits/keys.ts';
import { redisTlsProblem, redisUrlProblem, type RedisServer } from '#service/limits/redis/connection.ts';
import { revokeInRedis } from '#service/limits/redis/revoke.ts';
import { caBundleProblem } from '#service/tls/ca-bundle.ts';
import { ArgumentsError } from '../configuration/arguments.ts';
import { clientCertificateFiles, clientCertificateOf } from '../configuration/client-certificates.ts';
import { readNamedFile } from '../configuration/named-files.ts';
import { operationNamed, similarOperations } from '#service/config/operation-names.ts';

export const keysUsage = `usage: npm start -- keys COMMAND --keyring FILE [options]

  create --plan NAME    adds a key and prints it. The key is printed only once
    --owner NAME        keys of one owner share one budget
    --network NAME      the key is valid on this network only; may be repeated
    --method NAME       the key may call this operation only: its name in a path, such as getTransactions,
                        jetton/masters or emulateTrace; may be repeated
    --source CIDR       the key is valid from these addresses only; may be repeated
    --expires TIME      end of the key, RFC 3339
    --rate N --burst N  requests a second and at once, in place of the plan's values
  list                  prints ids, plans and other terms of the keys, never the keys
  revoke --id ID        removes the key from the file
    --redis URL, --redis-file FILE
                        every process that shares its limits in this Redis refuses the key at once
                        (or TONPLANE_REDIS_URL)
    --api NAMESPACE/NAME
                        TonApi of these processes, needed with a Redis; NAME alone if its manifest has no namespace
    --redis-ca-file FILE
                        PEM certificates of the authorities that sign the certificate of Redis
    --redis-client-certificate-file FILE, --redis-client-key-file FILE
                        PEM certificate that Redis sees, and its private key
  rotate --id ID        adds a key with the same terms and prints it; the old key stays valid for a time
    --overlap HOURS     that time, default 24
`;

/** A row as the file has it. */
type Row = KeyringRow;

const options = {
  keyring: { type: 'string' },
  plan: { type: 'string' },
  owner: { type: 'string' },
  network: { type: 'string', multiple: true },
  method: { type: 'string', multiple: true },
  source: { type: 'string', multiple: true },
  expires: { type: 'string' },
  rate: { type: 'string' },
  burst: { type: 'string' },
  id: { type: 'string' },
  overlap: { type: 'string' },
  redis: { type: 'string' },
  'redis-file': { type: 'string' },
  'redis-ca-file': { type: 'string' },
  'redis-client-certificate-file': { type: 'string' },
  'redis-client-key-file': { type: 'string' },
  api: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parse>['values'];

/**
 * Runs the `keys` role: changes a keyring file and returns the text to print. A service that follows the file applies the change within 2
 * s. A revoked key is reported to the named Redis after the file is written.
 *
 * @param args arguments after `keys` on the command line
 * @param nowMs Unix milliseconds
 * @throws ArgumentsError. StartError for a file that cannot be read. LimitsError for an invalid keyring before or after the change, and
 * when Redis cannot be reached.
 */
export async function runKeys(args: readonly string[], nowMs: number, environment: NodeJS.ProcessEnv): Promise<string> {
  const { values, positionals } = parse(args);
  if (values.help === true) throw new ArgumentsError({ code: 'help', message: keysUsage, data: {}, retryable: false });
  const [name, ...rest] = positionals;
  const command = name === undefined ? undefined : commands.get(name);
  if (command === undefined || rest.length > 0) throw refuse(`expected one of: ${[...commands.keys()].join(', ')}`);
  const file = values.keyring;
  if (file === undefined) throw refuse('--keyring: expected a file');
  const rows = readRows(file, name === 'create');
  const { print, changed, revoked } = command(rows, values, nowMs);
  const redis = revoked === undefined ? undefined : redisOf(values, environment);
  if (changed !== undefined) writeRows(file, changed);
  if (revoked !== undefined && redis !== undefined) await revokeInRedis(redis, redis.api, revoked);
  return print;
}

/** `revoked`: id of a key that is to be refused at once. */
type Outcome = { readonly print: string; readonly changed?: readonly Row[]; readonly revoked?: string };

const commands: ReadonlyMap<string, (rows: readonly Row[], values: Values, nowMs: number) => Outcome> = new Map([
  ['create', create],
  ['list', list],
  ['revoke', revoke],
  ['rotate', rotate],
]);

function create(rows: readonly Row[], values: Values): Outcome {
  if (values.plan === undefined) throw refuse('--plan: expected the name of a plan');
  const overrides = {
    ...(values.rate !== undefined && { requestsPerSecond: whole('--rate', values.rate) }),
    ...(values.burst !== undefined && { burst: whole('--burst', values.burst) }),
  };
  const { key, row } = rowFor({
    plan: values.plan,
    owner: values.owner,
    networks: values.network,
    notAfter: values.expires,
    allowedMethods: values.method?.map(knownOperation),
    allowedSources: values.source,
    overrides: Object.keys(overrides).length > 0 ? overrides : undefined,
  });
  return { print: `${key}\n`, changed: [...rows, row] };
}

/** Returns the name that limits use. A key for an unknown operation would be refused everywhere. */
function knownOperation(name: string): string {
  const known = operationNamed(name);
  if (known !== undefined) return known;
  const similar = similarOperations(name);
  const hint = similar.length === 0 ? '' : `; did you mean ${similar.join(', ')}?`;
  throw refuse(`--method: expected the name of an operation, got ${JSON.stringify(name.slice(0, 100))}${hint}`);
}

function list(rows: readonly Row[]): Outcome {
  const lines = rows.map(({ id, sha256: _stored, ...terms }) => `${id}  ${JSON.stringify(terms)}\n`);
  return { print: lines.join('') };
}

function revoke(rows: readonly Row[], values: Values): Outcome {
  const { id } = named(rows, values);
  return { print: `revoked ${id}\n`, changed: rows.filter((row) => row.id !== id), revoked: id };
}

/** Returns the Redis that learns of a revoked key; undefined when no Redis is named. */
function redisOf(values: Values, environment: NodeJS.ProcessEnv): (RedisServer & { api: string }) | undefined {
  const file = values['redis-file'];
  const given =
    values.redis ?? (file === undefined ? environment['TONPLANE_REDIS_URL'] : readNamedFile('--redis-file', file));
  const url = given?.trim();
  if (url === undefined || url === '') return undefined;
  const problem = redisUrlProblem(url);
  if (problem !== undefined) throw refuse(`--redis: ${problem}`);
  if (values.api === undefined || !/^([^/]+\/)?[^/]+$/.test(values.api)) {
    throw refuse(
      '--api: expected NAMESPACE/NAME of the TonApi whose processes share this Redis, or NAME without namespace',
    );
  }
  const caFile = values['redis-ca-file'];
  const ca = caFile === undefined ? undefined : readNamedFile('--redis-ca-file', caFile);
  const untrusted = (ca === undefined ? undefined : caBundleProblem(ca)) ?? redisTlsProblem({ url, ca });
  if (untrusted !== undefined) throw refuse(`--redis-ca-file: ${untrusted}`);
  const clientCertificate = clientCertificateOf('redis', clientCertificateFiles('redis', values, refuse), undefined);
  const unencrypted = redisTlsProblem({ url, clientCertificate });
  if (unencrypted !== undefined) throw refuse(`--redis-client-certificate-file: ${unencrypted}`);
  return { url, ca, clientCertificate, api: values.api };
}

/** Both keys get the same owner, so that the overlap does not double the budget. */
function rotate(rows: readonly Row[], values: Values, nowMs: number): Outcome {
  const old = named(rows, values);
  const { id, sha256: _stored, ...terms } = old;
  const owner = terms['owner'] ?? `rotated ${id}`;
  const { key, row } = rowFor({ ...terms, owner });
  const overlapMs = whole('--overlap', values.overlap ?? '24') * 3_600_000;
  const ends = Math.min(
    nowMs + overlapMs,
    typeof old['notAfter'] === 'string' ? Date.parse(old['notAfter']) : Infinity,
  );
  const ending = { ...old, owner, notAfter: new Date(ends).toISOString() };
  return { print: `${key}\n`, changed: [...rows.map((each) => (each.id === id ? ending : each)), row] };
}

function rowFor(terms: Omit<KeyringRow, 'id' | 'sha256'>): { key: string; row: Row } {
  const { key, id, sha256 } = makeKey(randomBytes);
  return { key, row: { id, sha256: sha256.toString('hex'), ...terms } };
}

function named(rows: readonly Row[], { id }: Values): Row {
  const row = rows.find((each) => each.id === id);
  if (row === undefined)
    throw refuse('--id: expected the id of a key in the keyring (the part between ton_ and the next _)');
  return row;
}

function readRows(file: string, mayBeMissing: boolean): readonly Row[] {
  if (mayBeMissing && !existsSync(file)) return [];
  const text = readNamedFile('--keyring', file);
  parseKeyring(text);
  return (JSON.parse(text) as { keys: Row[] }).keys;
}

/** Writes the file atomically, readable by the owner alone. Each row has its own line, so that changes are easy to review. */
function writeRows(file: string, rows: readonly Row[]): void {
  const text = `{"keys":[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]}\n`;
  parseKeyring(text);
  const beside = `${file}.${process.pid}.new`;
  try {
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(beside, file);
  } finally {
    rmSync(beside, { force: true });
  }
}

function whole(option: string, text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw refuse(`${option}: expected a whole number, got ${text}`);
  return Number(text);
}

function parse(args: readonly string[]) {
  return parseCommandLine({ args: [...args], options, allowPositionals: true, strict: true }, refuse);
}

function refuse(message: string): ArgumentsError {
  return new ArgumentsError({ code: 'usage', message: `keys: ${message}`, data: {}, retryable: false });
}
