/** Form of a parameter in JSON, on the command line and in the document. */
export type ParameterKind =
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** An account's address, raw or friendly. */
  | { readonly kind: 'address' }
  /** TON as a person writes them: `1.5`. */
  | { readonly kind: 'ton' }
  /** Whole units: nanotons, or the smallest part of a jetton. */
  | { readonly kind: 'units' }
  /** A bag of cells in base64. */
  | { readonly kind: 'bag' }
  /** A number or a name that `dev_snapshot` gave. */
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'name' }
  | { readonly kind: 'boolean' }
  /** A dump in base64. The command line takes the path of a file. */
  | { readonly kind: 'dump' };

export type MethodParameter = ParameterKind & {
  readonly name: string;
  /** Meaning and unit, a single sentence without a dot. */
  readonly about: string;
  readonly isOptional?: true;
};

/** A method of `POST /dev`: JSON-RPC, the command line and the OpenAPI document are read off this. */
export type MethodRow = {
  /** Meaning, a single sentence. */
  readonly about: string;
  /** Parameters in their order for calls without names. */
  readonly parameters: readonly MethodParameter[];
  /** A form asks before it calls the method: the clock never goes back, and changed accounts come back from an older snapshot alone. */
  readonly cannotBeUndone?: true;
  /** The method does not wait for the end of another one. */
  readonly runsAtOnce?: true;
  /** The answer has a field `dump`: the command line writes it into the file that follows the parameters. */
  readonly givesDump?: true;
};

/** Most blocks made by one call. A block takes some 10 ms, so an answer comes within seconds. */
const BLOCKS_MAX = 1000;

/** Ten years. Beyond that, validators, storage debts and 32-bit times are no longer realistic for contracts. */
export const ADVANCE_SECONDS_MAX = 10 * 366 * 86_400;

/** Last second that blocks can name. */
export const UTIME_MAX = 2 ** 32 - 1;

/** Longest wait of a request, as a client's own time is over by then. */
const DELAY_MS_MAX = 30_000;

/** Longest time without a block that a call asks for. */
const DELAY_SECONDS_MAX = 3600;

const integer = (min: number, max: number) => ({ kind: 'integer', min, max }) as const;
const address = { kind: 'address', name: 'address', about: 'account' } as const;
const snapshot = { kind: 'snapshot', name: 'snapshot', about: 'number or name of a snapshot' } as const;
const optional = { isOptional: true } as const;

/** Every method once. */
export const methodTable = {
  dev_status: {
    about:
      'Reports the newest block, the clock of the network, its seconds ahead of this machine, and the number of waiting messages.',
    parameters: [],
    runsAtOnce: true,
  },
  dev_mine: {
    about: 'Makes blocks at once.',
    parameters: [{ ...integer(1, BLOCKS_MAX), name: 'blocks', about: 'number of blocks, default 1', ...optional }],
    runsAtOnce: true,
  },
  dev_advance: {
    about: 'Moves the clock of the network forward and makes a block.',
    parameters: [{ ...integer(0, ADVANCE_SECONDS_MAX), name: 'seconds', about: 'seconds to move forward' }],
    cannotBeUndone: true,
  },
  dev_setTime: {
    about: 'Moves the clock of the network to a time and makes a block; never back.',
    parameters: [{ ...integer(0, UTIME_MAX), name: 'utime', about: 'Unix time in seconds' }],
    cannotBeUndone: true,
  },
  dev_setNextBlockTime: {
    about: 'Sets the time of the next block, and makes no block; the clock continues from that time.',
    parameters: [
      { ...integer(0, UTIME_MAX), name: 'utime', about: 'Unix time in seconds, after that of the newest block' },
    ],
    cannotBeUndone: true,
  },
  dev_signShardBlocks: {
    about:
      'Makes and signs the next block of every shard without a masterchain block, in place of signed ones that wait; the next block takes them in.',
    parameters: [
      {
        kind: 'boolean',
        name: 'externals',
        about: 'false leaves messages from outside to a later block, default true',
        ...optional,
      },
    ],
  },
  dev_holdShardBlocks: {
    about: 'Sets whether masterchain blocks leave shard blocks out; a change by hand and a snapshot end that.',
    parameters: [{ kind: 'boolean', name: 'hold', about: 'default true', ...optional }],
    runsAtOnce: true,
  },
  dev_delayBlocks: {
    about: 'Makes no block by itself for some seconds; methods that make blocks go on.',
    parameters: [{ ...integer(0, DELAY_SECONDS_MAX), name: 'seconds', about: '0 ends a delay' }],
    runsAtOnce: true,
  },
  dev_snapshot: {
    about: 'Waits until messages in transit have arrived, then stores all accounts.',
    parameters: [{ kind: 'name', name: 'name', about: 'name of the snapshot, 1 to 64 characters', ...optional }],
  },
  dev_revert: {
    about: 'Sets all accounts back to a snapshot; may be repeated.',
    parameters: [snapshot],
    cannotBeUndone: true,
  },
  dev_snapshots: { about: 'Lists the snapshots, the oldest first.', parameters: [], runsAtOnce: true },
  dev_deleteSnapshot: { about: 'Deletes a snapshot.', parameters: [snapshot], cannotBeUndone: true },
  dev_exportSnapshot: {
    about: 'Returns all accounts of a snapshot as a dump.',
    parameters: [snapshot],
    givesDump: true,
  },
  dev_dump: {
    about:
      'Returns the state of the network as a dump: accounts, libraries, configuration and clock, without blocks and transactions.',
    parameters: [],
    givesDump: true,
  },
  dev_load: {
    about:
      'Replaces accounts, libraries and configuration by those of a dump, which has no history; validators and blocks stay, and the clock does not go back.',
    parameters: [{ kind: 'dump', name: 'dump', about: 'dump of dev_dump or dev_exportSnapshot, in base64' }],
    cannotBeUndone: true,
  },
  dev_setBalance: {
    about: 'Sets the balance of an account, and creates the account if it does not exist.',
    parameters: [address, { kind: 'units', name: 'balance', about: 'nanotons' }],
    cannotBeUndone: true,
  },
  dev_setCode: {
    about: 'Sets the code of an account.',
    parameters: [address, { kind: 'bag', name: 'code', about: 'bag of cells in base64' }],
    cannotBeUndone: true,
  },
  dev_setData: {
    about: 'Sets the data of an account that has code.',
    parameters: [address, { kind: 'bag', name: 'data', about: 'bag of cells in base64' }],
    cannotBeUndone: true,
  },
  dev_setConfig: {
    about: 'Sets a parameter of the configuration: the next block is a key block.',
    parameters: [
      {
        ...integer(-(2 ** 31), 2 ** 31 - 1),
        name: 'parameter',
        about: 'number; 32 to 37, the validators, stay as they are',
      },
      {
        kind: 'bag',
        name: 'value',
        about: 'bag of cells in base64; without it the parameter is removed',
        ...optional,
      },
    ],
    cannotBeUndone: true,
  },
  dev_fund: {
    about: 'Sends TON from the faucet.',
    parameters: [address, { kind: 'ton', name: 'amount', about: 'TON, at most 1000000' }],
  },
  dev_mintJetton: {
    about:
      'Mints jettons as the admin of their minter, which must accept the mint message of the standard or of the stablecoin contract.',
    parameters: [
      { kind: 'address', name: 'jetton', about: 'minter' },
      { kind: 'address', name: 'address', about: 'owner that gets them' },
      { kind: 'units', name: 'amount', about: 'smallest units' },
    ],
  },
  dev_sendInternal: {
    about: 'Sends an internal message in the name of any account, whose code, data and balance stay as they are.',
    parameters: [
      { kind: 'address', name: 'from', about: 'sender, no key needed' },
      { kind: 'address', name: 'to', about: 'receiver' },
      { kind: 'ton', name: 'amount', about: 'TON that the message carries, at most 1000000' },
      { kind: 'bag', name: 'body', about: 'bag of cells in base64, default empty', ...optional },
      { kind: 'boolean', name: 'bounce', about: 'a failure sends the rest back, default true', ...optional },
    ],
  },
  dev_conditions: {
    about: 'Sets how the API treats its callers, to test a client; a condition that is not given ends.',
    parameters: [
      { ...integer(0, DELAY_MS_MAX), name: 'delayMs', about: 'milliseconds that each request waits', ...optional },
      { ...integer(0, 100), name: 'failurePercent', about: 'percent of requests that get 503', ...optional },
      {
        ...integer(0, 1000),
        name: 'requestsPerSecond',
        about: 'requests a second of all callers together, then 429; 0 is no limit',
        ...optional,
      },
    ],
  },
} as const satisfies Readonly<Record<string, MethodRow>>;

export type MethodName = keyof typeof methodTable;

export const methodRows: Readonly<Record<MethodName, MethodRow>> = methodTable;

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methodTable, name);
}
