import { parseCommandLine } from '#service/config/command-line.ts';
import { TonplaneError } from '#service/error.ts';
import { redisUrlProblem } from '#service/limits/redis/connection.ts';
import { clientCertificateFiles, type ClientCertificateFiles } from './client-certificates.ts';
import { postgresUrlProblem } from './postgres-url.ts';

/** Parsed command line. */
export type Arguments = {
  /**
   * `dev`: a private network, its index and the API over both in one process.
   * `api`: the API over the named lite servers.
   * `indexer`: writes the blocks of their network into Postgres.
   * `streaming`: serves the streams of the API, and nothing else.
   * `metadata`: fetches off-chain metadata of the tokens in Postgres.
   * `migrate`: migrates the tables in Postgres to this release, and ends.
   */
  readonly role: Role;
  /** TonApi manifest file. */
  readonly manifest: string | undefined;
  readonly network: 'mainnet' | 'testnet' | undefined;
  /** The ecosystem's `global.config.json`. */
  readonly globalConfig: string | undefined;
  readonly keyring: string | undefined;
  /** URL of the Redis for shared limits; a secret. */
  readonly redis: string | undefined;
  /** File that has the URL, as mounted from a Secret; followed while the process runs. */
  readonly redisFile: string | undefined;
  /** File with the certificate authorities of Redis; followed too. */
  readonly redisCaFile: string | undefined;
  /** Files of the certificate that Redis sees; followed too. */
  readonly redisClientFiles: ClientCertificateFiles | undefined;
  /** URIs of the Postgres of the index, and of its read replica; secrets. */
  readonly postgresUrl: string | undefined;
  /** Files that have the URIs, as mounted from Secrets; followed while the process runs. */
  readonly postgresFile: string | undefined;
  readonly postgresReplicaFile: string | undefined;
  /** Folder with a file for each part of the connection that the manifest takes from Secrets; followed too. */
  readonly postgresFolder: string | undefined;
  /** File with the certificate authorities of both; followed too. */
  readonly postgresCaFile: string | undefined;
  /** Files of the certificate that both see; followed too. */
  readonly postgresClientFiles: ClientCertificateFiles | undefined;
  /** The same of the collector of traces. */
  readonly tracingCaFile: string | undefined;
  /** The same of the IPFS gateway. */
  readonly metadataCaFile: string | undefined;
  /** `dev` indexes its network. */
  readonly index: boolean;
  /** Folder of a node's archive packages. An indexer reads the past from it first. */
  readonly archive: string | undefined;
  /** First masterchain block of the index. */
  readonly startSeqno: number | undefined;
  /** `migrate` reports its migrations without running them. */
  readonly plan: boolean;
  readonly host: string | undefined;
  /** 0 takes a free port. */
  readonly port: number | undefined;
  readonly internalPort: number | undefined;
  /** Port of the lite server of `dev`, on loopback; 0 takes a free port. */
  readonly liteServerPort: number;
  /** `dev` applies a limit to callers without a key, also on loopback. */
  readonly requireKey: boolean;
  /** JSON file of accounts that `dev` funds at the start. */
  readonly accounts: string | undefined;
  /** `dev` prints its addresses and keys as a single line of JSON, and nothing else. */
  readonly json: boolean;
  /** Host names under which the internal listener answers, besides its own. */
  readonly internalNames: readonly string[];
  /** Folder for data that lasts over restarts. */
  readonly data: string;
  /** True when the folder was named: then it stores a private network. Otherwise the network ends with the process. */
  readonly keepChain: boolean;
  /** `dev` plays a recording instead of a private network. */
  readonly recorded: boolean;
  /** Seconds between masterchain blocks of the private network, a block for each message, or none by itself. */
  readonly blockTime: number | 'on-demand' | 'manual';
  /** Dump that `dev` loads at its start, and file for the dump that `dev` writes at its end. */
  readonly load: string | undefined;
  readonly dump: string | undefined;
  /** A new private network is filled with demo content. */
  readonly demo: boolean;
  /** A global.config.json, optionally with `@SEQNO`. The private network starts as a copy of that network. */
  readonly fork: string | undefined;
  /** Validators of a new private network. Undefined: 1, or the number of the stored network. */
  readonly validators: number | undefined;
  /** Seconds between masterchain blocks of the recording; 0 shows the whole recording at once. */
  readonly paceSeconds: number;
  /** Folder of the recording that `dev` plays; undefined for the default recording. */
  readonly recording: string | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | undefined;
};

const roles = ['dev', 'api', 'streaming', 'indexer', 'metadata', 'migrate'] as const;
export type Role = (typeof roles)[number];

/** `usage`: the command line is invalid. `help`: the command line asks for help. `message` is the text to print. */
export class ArgumentsError extends TonplaneError<'usage' | 'help', Record<string, never>> {}

const options = {
  manifest: { type: 'string' },
  network: { type: 'string' },
  'global-config': { type: 'string' },
  keyring: { type: 'string' },
  redis: { type: 'string' },
  'redis-file': { type: 'string' },
  'redis-ca-file': { type: 'string' },
  'redis-client-certificate-file': { type: 'string' },
  'redis-client-key-file': { type: 'string' },
  'postgres-url': { type: 'string' },
  'postgres-file': { type: 'string' },
  'postgres-replica-file': { type: 'string' },
  'postgres-folder': { type: 'string' },
  'postgres-ca-file': { type: 'string' },
  'postgres-client-certificate-file': { type: 'string' },
  'postgres-client-key-file': { type: 'string' },
  'tracing-ca-file': { type: 'string' },
  'metadata-ca-file': { type: 'string' },
  index: { type: 'boolean' },
  archive: { type: 'string' },
  'start-seqno': { type: 'string' },
  plan: { type: 'boolean' },
  host: { type: 'string' },
  port: { type: 'string' },
  'internal-port': { type: 'string' },
  'lite-server-port': { type: 'string' },
  'require-key': { type: 'boolean' },
  accounts: { type: 'string' },
  json: { type: 'boolean' },
  'internal-name': { type: 'string', multiple: true },
  data: { type: 'string' },
  'block-time': { type: 'string' },
  validators: { type: 'string' },
  demo: { type: 'boolean' },
  fork: { type: 'string' },
  load: { type: 'string' },
  dump: { type: 'string' },
  recorded: { type: 'boolean' },
  pace: { type: 'string' },
  recording: { type: 'string' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const usage = `usage: npm start -- [options]

Without --manifest and --global-config: runs a private TON network in this process, and serves the API over it.
  --block-time SECONDS  time between masterchain blocks, 0.4 to 5, default 1; on-demand: a block for each message;
                        manual: a block only by "dev mine"
  --validators N        number of validators that sign the masterchain, 1 to 100, default 1
  --no-demo             an empty network, without wallets, a jetton, an NFT collection, a domain, a multisig and a
                        vesting wallet
  --fork FILE[@SEQNO]   starts as a copy of another network, named by its global.config.json, at a masterchain block
                        or the newest; accounts are read and proved at their first use
  --fork HOST:PORT:KEY[@SEQNO]  the same over one lite server with its public key in base64; nothing is proved
  --accounts FILE       more accounts with TON: {"alice": {"mnemonic": "24 words", "balance": "100"},
                        "bob": {"address": "EQ..."}}; a balance is in TON, default 1000
  --require-key         callers without the key get 1 request a second, as with a --host beyond loopback;
                        default: no caller on loopback needs a key
  --lite-server-port N  port of the lite server, default 8083; 0: a free port
  --json                prints addresses, keys and accounts as one line of JSON, for scripts
  --data DIR            stores the network and its index there; default: both end with the process
  --load FILE           starts with the accounts, libraries and configuration of a dump (from "dev dump FILE");
                        a dump has no blocks, transactions and traces
  --dump FILE           writes such a dump at the end
  --no-index            runs without the index, so without /api/v3; default: the process starts its own Postgres

Plays a recorded TON network instead:
  --recorded            the recording of the project
  --recording DIR       another recording
  --pace SECONDS        time between masterchain blocks, default 1; 0: the whole recording at once

Over lite servers of a real network, one of:
  --manifest FILE       a TonApi manifest (YAML or JSON)
  --network NAME --global-config FILE
                        mainnet or testnet, and its global.config.json. With --manifest and without --network:
                        the file in place of the object that liteServerConfigRef names
  streaming --manifest FILE
                        serves surface stream of the manifest, and no other
  indexer --manifest FILE [--archive DIR]
                        writes the network's blocks into Postgres; with --archive first those of a node's archive files
  metadata --manifest FILE
                        fetches names and texts that tokens have outside the chain; needs tokenMetadata in the manifest
  migrate --manifest FILE [--plan]
                        creates or changes the tables in Postgres for this release, and ends; --plan only prints the steps

  --host ADDRESS        address to listen on, default 127.0.0.1
  --port N              port of the API, default 8081; 0: a free port
  --internal-port N     port of metrics, probes and status, default 8082; 0: a free port
  --internal-name NAME  host name that --internal-port answers too; may be repeated. It always answers IP addresses,
                        localhost, *.svc, *.cluster.local and the machine's own name
  --data DIR            folder of data that last over restarts, default .tonplane
  --keyring FILE        API keys (JSON), or a folder of such files, plain or gzip
  --redis URL           Redis of the limits that several processes share: redis://, rediss://,
                        redis+cluster://host:port,host:port, or redis+sentinel://host:port,host:port/NAME
                        with the name of the primary. Other users of the machine see an option;
                        they do not see the environment variable TONPLANE_REDIS_URL
  --redis-file FILE     file with that URL, such as a mounted Secret
  --redis-ca-file FILE  PEM certificates of the authorities that sign the certificate of Redis
  --redis-client-certificate-file FILE, --redis-client-key-file FILE
                        PEM certificate that Redis sees, and its private key
  --postgres-url URI    Postgres of the index, postgres://user:password@host/database (or TONPLANE_POSTGRES_URL)
  --postgres-file FILE, --postgres-replica-file FILE
                        file with that URI, and file with the URI of a read replica, such as mounted Secrets
  --postgres-folder DIR folder with the files host, port, database, user, password and readOnlyHost, for postgres.parts
                        of the manifest
  --postgres-ca-file FILE
                        PEM certificates of the authorities that sign the certificate of Postgres
  --postgres-client-certificate-file FILE, --postgres-client-key-file FILE
                        PEM certificate that Postgres and its replica see, and its private key
  --tracing-ca-file FILE
                        PEM certificates of the authorities that sign the certificate of the OTLP collector
  --metadata-ca-file FILE
                        PEM certificates of the authorities that sign the certificate of the IPFS gateway, besides
                        the public authorities
  --start-seqno N       first masterchain block of a new index; default: the manifest's value, or 1
  --log-level LEVEL     debug, info, warn or error

dev NAME VALUE...       calls a method of a running private network, such as dev fund ADDRESS AMOUNT; list: dev help
keys create|list|revoke|rotate --keyring FILE
                        changes a keyring file; options: keys --help
`;

/**
 * Reads the command line (without the program's name).
 * @throws ArgumentsError naming the option and what was expected, or holding the usage text
 */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parseStrictly(args);
  if (values.help === true) throw new ArgumentsError({ code: 'help', message: usage, data: {}, retryable: false });
  const network = oneOf('--network', values.network, ['mainnet', 'testnet'] as const);
  if ((network === undefined) !== (values['global-config'] === undefined) && values.manifest === undefined) {
    throw refuse('--network and --global-config: expected both, or neither');
  }
  if (network !== undefined && values.manifest !== undefined) {
    throw refuse('--network: expected only without --manifest, because the manifest names the network');
  }
  const real = values.manifest !== undefined || network !== undefined;
  const role = roleOf(positionals, real);
  const recorded = values.recorded === true || values.recording !== undefined || values.pace !== undefined;
  for (const option of ['block-time', 'validators', 'fork', 'accounts', 'load', 'dump'] as const) {
    if (values[option] !== undefined && (recorded || real)) {
      throw refuse(
        `--${option}: expected only for a private network, without --recorded, --recording, --pace, --manifest, --network`,
      );
    }
  }
  return {
    role,
    manifest: values.manifest,
    network,
    globalConfig: values['global-config'],
    keyring: values.keyring,
    redis: redisUrl(values.redis),
    redisFile: values['redis-file'],
    redisCaFile: values['redis-ca-file'],
    redisClientFiles: clientCertificateFiles('redis', values, refuse),
    postgresUrl: postgresUrl(values['postgres-url']),
    postgresFile: values['postgres-file'],
    postgresReplicaFile: values['postgres-replica-file'],
    postgresFolder: values['postgres-folder'],
    postgresCaFile: values['postgres-ca-file'],
    postgresClientFiles: clientCertificateFiles('postgres', values, refuse),
    tracingCaFile: values['tracing-ca-file'],
    metadataCaFile: values['metadata-ca-file'],
    index: values.index ?? true,
    archive: values.archive,
    startSeqno: count('--start-seqno', values['start-seqno'], seqnoMax),
    plan: values.plan ?? false,
    host: values.host,
    port: integer('--port', values.port, 65_535),
    internalPort: integer('--internal-port', values['internal-port'], 65_535),
    liteServerPort: integer('--lite-server-port', values['lite-server-port'], 65_535) ?? LITE_SERVER_PORT,
    requireKey: values['require-key'] ?? false,
    accounts: values.accounts,
    json: values.json ?? false,
    internalNames: hostNames('--internal-name', values['internal-name']),
    data: values.data ?? '.tonplane',
    keepChain: values.data !== undefined,
    recorded,
    demo: values.demo ?? (values.fork === undefined && values.load === undefined),
    fork: values.fork,
    load: values.load,
    dump: values.dump,
    blockTime: blockTime(values['block-time']),
    validators: count('--validators', values.validators, VALIDATORS_MAX),
    paceSeconds: seconds('--pace', values.pace) ?? 1,
    recording: values.recording,
    logLevel: oneOf('--log-level', values['log-level'], ['debug', 'info', 'warn', 'error'] as const),
  };
}

function parseStrictly(args: readonly string[]) {
  return parseCommandLine(
    { args: [...args], options, allowPositionals: true, allowNegative: true, strict: true },
    refuse,
  );
}

function roleOf(positionals: readonly string[], real: boolean): Role {
  const [name = real ? 'api' : 'dev', ...rest] = positionals;
  const role = roles.find((one) => one === name);
  if (rest.length > 0 || role === undefined) {
    throw refuse(`expected at most one role (${roles.join(', ')}), got ${positionals.join(' ')}`);
  }
  if (role === 'dev' && real)
    throw refuse('dev: expected no --manifest and no --network, because dev runs its own network');
  if (role !== 'dev' && !real) throw refuse(`${role}: expected --manifest FILE or --network NAME --global-config FILE`);
  return role;
}

function integer(option: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value > max)
    throw refuse(`${option}: expected a number from 0 to ${max}, got ${text}`);
  return value;
}

const LITE_SERVER_PORT = 8083;

/** Blocks with 100 validators take some 10 ms each. More signatures make proofs that no test needs. */
const VALIDATORS_MAX = 100;

const seqnoMax = 2 ** 31 - 1;

function count(option: string, text: string | undefined, max: number): number | undefined {
  const value = integer(option, text, max);
  if (value === 0) throw refuse(`${option}: expected a number from 1 to ${max}, got 0`);
  return value;
}

function blockTime(text: string | undefined): Arguments['blockTime'] {
  if (text === undefined) return 1;
  const value = Number(text);
  if (text === 'on-demand' || text === 'manual') return text;
  if (!/^\d(\.\d{1,3})?$/.test(text) || value < 0.4 || value > 5) {
    throw refuse(`--block-time: expected seconds from 0.4 to 5, on-demand or manual, got ${text}`);
  }
  return value;
}

/** Rejects a host name with a port, because such a name would never match. */
function hostNames(option: string, names: readonly string[] = []): readonly string[] {
  const wrong = names.find((name) => !/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(name));
  if (wrong !== undefined) throw refuse(`${option}: expected a host name without a port, got ${wrong}`);
  return names;
}

/** Pause between blocks of at most an hour, so that a typing error does not look like a dead network. */
function seconds(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d{1,4}(\.\d{1,3})?$/.test(text) || value > 3600) {
    throw refuse(`${option}: expected seconds from 0 to 3600, got ${text}`);
  }
  return value;
}

/** The URL may have a password, so the error does not repeat it. */
function redisUrl(text: string | undefined): string | undefined {
  const problem = text === undefined ? undefined : redisUrlProblem(text);
  if (problem !== undefined) throw refuse(`--redis: ${problem}`);
  return text;
}

/** The URL may have a password, as the URL of Redis. */
function postgresUrl(text: string | undefined): string | undefined {
  const problem = text === undefined ? undefined : postgresUrlProblem(text);
  if (problem !== undefined) throw refuse(`--postgres-url: ${problem}`);
  return text;
}

function oneOf<T extends string>(option: string, text: string | undefined, names: readonly T[]): T | undefined {
  if (text === undefined) return undefined;
  const name = names.find((candidate) => candidate === text);
  if (name === undefined) throw refuse(`${option}: expected ${names.join(', ')}, got ${text}`);
  return name;
}

function refuse(message: string): ArgumentsError {
  return new ArgumentsError({ code: 'usage', message, data: {}, retryable: false });
}
