/** Object of an answer, as far as a comparison reads it. */
type Json = Readonly<Record<string, unknown>>;

type TraceNode = { readonly tx_hash: string; readonly children: readonly TraceNode[] };

type Message = Json & {
  readonly hash: string;
  readonly created_lt: string | null;
  readonly created_at: string | null;
  readonly value: string | null;
  readonly message_content?: { readonly decoded?: { readonly query_id?: string } | null } | null;
};

type AccountState = Json & { readonly account_status: string; readonly code_hash: string | null };

type ComparedTransaction = Json & {
  readonly account: string;
  readonly lt: string;
  readonly prev_trans_lt: string;
  readonly account_state_after: AccountState;
  readonly in_msg: Message | null;
  readonly out_msgs: readonly Message[];
  readonly description: { readonly storage_ph?: { readonly storage_fees_collected?: string } };
};

/** Facts of both traces that a comparison allows for. */
export type ComparisonOptions = {
  /** False when the emulated message has no signature of its wallet. */
  readonly isSigned?: boolean;
  /** True when contracts store the time of their transaction. */
  readonly hasTimes?: boolean;
};

/** A trace of v3 or of the emulation. */
export type ComparedTrace = {
  readonly trace: TraceNode;
  readonly transactions: Readonly<Record<string, ComparedTransaction>>;
  readonly actions: readonly Json[];
};

/**
 * Fields that an emulation cannot know: time, lt and block, and hashes that depend on them. A state's own hash has the last lt.
 * Storage fees of the time between are in `storage_ph` and `total_fees`.
 */
const unknowable: ReadonlySet<string> = new Set([
  'hash',
  'hash_norm',
  'lt',
  'now',
  'mc_block_seqno',
  'block_ref',
  'trace_id',
  'trace_external_hash',
  'prev_trans_hash',
  'prev_trans_lt',
  'account_state_before',
  'emulated',
  'finality',
  'created_lt',
  'created_at',
  'in_msg_tx_hash',
  'out_msg_tx_hash',
  'storage_ph',
  'total_fees',
  // Fields of actions.
  'trace_external_hash_norm',
  'action_id',
  'start_lt',
  'end_lt',
  'start_utime',
  'end_utime',
  'trace_end_lt',
  'trace_end_utime',
  'trace_mc_seqno_end',
  'transactions',
  'accounts',
]);

/** Nanotons of an account, and nanotons that a contract may compute from its balance. */
const balanceFields: ReadonlySet<string> = new Set(['value', 'credit', 'balance']);

/** Place that is null in v3 where the block of the index does not show all extra currencies. */
const UNKNOWN_CURRENCIES = 'account_state_after.extra_currencies';

/** Hash of messages, which may have such a value or an lt. */
const LIST_HASH = 'action_list_hash';

/**
 * Compares accounts and their states, phases, exit codes, fees, messages and actions of an emulation with the real trace. Balances, and
 * values that a contract may compute from its balance, may differ by the storage fees of the time between. A body with the lt of its
 * transaction as query id is left out. Hashes of messages are compared where lt, time and value are equal.
 * @returns differences, each as its place and both values
 */
export function differencesOf(
  emulated: ComparedTrace,
  real: ComparedTrace,
  { isSigned = true, hasTimes = false }: ComparisonOptions = {},
): readonly string[] {
  const [ours, theirs] = [emulated, real].map((trace) => withRoot(inOrder(trace), isSigned)) as [
    Transactions,
    Transactions,
  ];
  const slack = ours.reduce((sum, one, at) => sum + distance(storageFee(one), storageFee(theirs[at])), 0n);
  const lts = new Set([...ours, ...theirs].map(({ lt }) => lt));
  const hasLts = ours.some(({ out_msgs: sent }) => sent.some((message) => lts.has(queryIdOf(message) ?? '')));
  const rules = { slack, isListHashCompared: slack === 0n && !hasLts };
  const equal = withEqualStates(ours, theirs);
  const shown = (trace: Transactions): readonly Json[] =>
    trace.map((one, at) => shownOf(one, { lts, hasState: equal.has(at), hasTimes }));
  return [
    ...differences(shown(ours), shown(theirs), { place: 'transactions', ...rules }),
    ...differences(sortActions(emulated), sortActions(real), { place: 'actions', ...rules }),
    ...hashDifferences(ours, theirs),
  ];
}

type Transactions = readonly ComparedTransaction[];

/** Leaves the message of the wallet out if only one of both has a signature. */
function withRoot([root, ...others]: Transactions, isSigned: boolean): Transactions {
  return isSigned ? [root!, ...others] : [{ ...root!, in_msg: null }, ...others];
}

function messagesOf(one?: ComparedTransaction): readonly (Message | null)[] {
  return one === undefined ? [] : [one.in_msg, ...one.out_msgs];
}

/** Compares hashes of messages that may be equal. */
function hashDifferences(ours: Transactions, theirs: Transactions): readonly string[] {
  return ours.flatMap((one, at) => {
    const real = messagesOf(theirs[at]);
    return messagesOf(one).flatMap((message, nth) => {
      const other = real[nth];
      if (!message || !other || !hasSameOrigin(message, other) || message.hash === other.hash) return [];
      return [`transactions.${at}: message ${message.hash} instead of ${other.hash}`];
    });
  });
}

/** Reports that lt, time and value do not let the hashes differ. An external message has no lt, time and value. */
function hasSameOrigin(one: Message, other: Message): boolean {
  return one.created_lt === other.created_lt && one.created_at === other.created_at && one.value === other.value;
}

/**
 * Transactions from the root on, each before the transactions that its messages lead to. Siblings are in the order of their messages, because
 * shards may take these in another order.
 */
function inOrder({ trace, transactions }: ComparedTrace): readonly ComparedTransaction[] {
  const sentAt = ({ tx_hash: hash }: TraceNode): bigint => BigInt(transactions[hash]!.in_msg!.created_lt ?? 0);
  const nodes = [trace];
  for (const { children } of nodes) nodes.push(...children.toSorted((a, b) => (sentAt(a) < sentAt(b) ? -1 : 1)));
  return nodes.map(({ tx_hash: hash }) => transactions[hash]!);
}

/** Nanotons for the time since the last transaction. */
function storageFee(one: ComparedTransaction | undefined): bigint {
  return BigInt(one?.description.storage_ph?.storage_fees_collected ?? 0);
}

function queryIdOf({ message_content: content }: Message): string | undefined {
  return content?.decoded?.query_id;
}

/**
 * Positions of transactions whose state after them may be equal. Both runs took the messages to the account in one order, with no message of
 * another trace before or between them. The index has the state: of a block it has the last state of each account.
 */
function withEqualStates(ours: Transactions, theirs: Transactions): ReadonlySet<number> {
  const found = new Set<number>();
  const accounts = Map.groupBy(ours.keys(), (at) => ours[at]!.account);
  for (const places of accounts.values()) {
    const inTime = (trace: Transactions): readonly number[] =>
      places.toSorted((a, b) => (BigInt(trace[a]?.lt ?? 0) < BigInt(trace[b]?.lt ?? 0) ? -1 : 1));
    const real = inTime(theirs);
    let before = ours[inTime(ours)[0]!]!.prev_trans_lt;
    for (const [turn, at] of inTime(ours).entries()) {
      const other = theirs[at];
      if (other === undefined || real[turn] !== at || other.prev_trans_lt !== before) break;
      if (isKnown(other.account_state_after)) found.add(at);
      before = other.lt;
    }
  }
  return found;
}

function isKnown({ account_status: status, code_hash: code }: AccountState): boolean {
  return status !== 'active' || code !== null;
}

function shownOf(
  one: ComparedTransaction,
  {
    lts,
    hasState,
    hasTimes,
  }: { readonly lts: ReadonlySet<string>; readonly hasState: boolean; readonly hasTimes: boolean },
): Json {
  const { account_state_after: state } = one;
  const shownMessage = (message: Message): Json =>
    lts.has(queryIdOf(message) ?? '') ? { ...message, message_content: null } : message;
  return {
    ...one,
    account_state_after: hasState ? { ...state, ...(hasTimes && { data_hash: null }) } : null,
    in_msg: one.in_msg && shownMessage(one.in_msg),
    out_msgs: one.out_msgs.map(shownMessage),
    fees_beside_storage: (BigInt(one['total_fees'] as string) - storageFee(one)).toString(),
  };
}

/** Actions by their fields, without amounts, which may differ a little. Equal ones are in the order in which they began. */
function sortActions({ actions }: ComparedTrace): readonly Json[] {
  const keyed = actions.map((one) => {
    const fields = Object.entries(one).filter(([name]) => !unknowable.has(name));
    const key = JSON.stringify(fields, (name, value: unknown) => (isAmount(name, value) ? null : value));
    return { one, key, startLt: BigInt(one['start_lt'] as string) };
  });
  const compared = keyed.toSorted((a, b) => compare(a.key, b.key) || compare(a.startLt, b.startLt));
  return compared.map(({ one }) => one);
}

function compare<T extends string | bigint>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function isAmount(name: string, value: unknown): value is string {
  return balanceFields.has(name) && typeof value === 'string' && /^\d+$/.test(value);
}

type Rules = { readonly place: string; readonly slack: bigint; readonly isListHashCompared: boolean };

function differences(ours: unknown, theirs: unknown, rules: Rules): readonly string[] {
  const { place } = rules;
  if (typeof ours !== 'object' || ours === null || typeof theirs !== 'object' || theirs === null) {
    return isSame(ours, theirs, rules) ? [] : [`${place}: ${textOf(ours)} instead of ${textOf(theirs)}`];
  }
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter((name) => !unknowable.has(name));
  return names.flatMap((name) =>
    differences((ours as Json)[name], (theirs as Json)[name], { ...rules, place: `${place}.${name}` }),
  );
}

function isSame(ours: unknown, theirs: unknown, { place, slack, isListHashCompared }: Rules): boolean {
  if (ours === theirs) return true;
  if (theirs === null && place.endsWith(UNKNOWN_CURRENCIES)) return true;
  const name = place.slice(place.lastIndexOf('.') + 1);
  if (name === LIST_HASH) return !isListHashCompared;
  return isAmount(name, ours) && isAmount(name, theirs) && distance(BigInt(ours), BigInt(theirs)) <= slack;
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

function textOf(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 300);
}
