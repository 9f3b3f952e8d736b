/** Object of an answer, as far as a comparison reads it. */
type Json = Readonly<Record<string, unknown>>;

type TraceNode = { readonly tx_hash: string; readonly children: readonly TraceNode[] };

type Message = Json & {
  readonly created_lt: string | null;
  readonly message_content?: { readonly decoded?: { readonly query_id?: string } | null } | null;
};

type ComparedTransaction = Json & {
  readonly lt: string;
  readonly in_msg: Message | null;
  readonly out_msgs: readonly Message[];
  readonly description: { readonly storage_ph?: { readonly storage_fees_collected?: string } };
};

/** A trace of v3 or of the emulation. */
export type ComparedTrace = {
  readonly trace: TraceNode;
  readonly transactions: Readonly<Record<string, ComparedTransaction>>;
  readonly actions: readonly Json[];
};

/**
 * Fields that an emulation cannot know: time, lt and block, and hashes that depend on them. States have the last lt, and balances from which
 * storage fees of the time between are missing. These fees are in `storage_ph` and `total_fees`.
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
  'emulated',
  'finality',
  'created_lt',
  'created_at',
  'in_msg_tx_hash',
  'out_msg_tx_hash',
  'account_state_before',
  'account_state_after',
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

/** Nanotons that a contract may compute from its balance. */
const balanceFields: ReadonlySet<string> = new Set(['value', 'credit', 'amount']);

/** Hash of messages, which may have such a value or an lt. */
const LIST_HASH = 'action_list_hash';

/**
 * Compares accounts, phases, exit codes, fees, messages and actions of an emulation with the real trace. Values that a contract may compute
 * from its balance may differ by the storage fees of the time between. A body with the lt of its transaction as query id is left out.
 * @returns differences, each as its place and both values
 */
export function differencesOf(emulated: ComparedTrace, real: ComparedTrace): readonly string[] {
  const [ours, theirs] = [inOrder(emulated), inOrder(real)];
  const slack = ours.reduce((sum, one, at) => sum + distance(storageFee(one), storageFee(theirs[at])), 0n);
  const lts = new Set([...ours, ...theirs].map(({ lt }) => lt));
  const hasLts = ours.some(({ out_msgs: sent }) => sent.some((message) => lts.has(queryIdOf(message) ?? '')));
  const rules = { slack, isListHashCompared: slack === 0n && !hasLts };
  const shown = (trace: readonly ComparedTransaction[]): readonly Json[] => trace.map((one) => shownOf(one, lts));
  return [
    ...differences(shown(ours), shown(theirs), { place: 'transactions', ...rules }),
    ...differences(sortActions(emulated), sortActions(real), { place: 'actions', ...rules }),
  ];
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

function shownOf(one: ComparedTransaction, lts: ReadonlySet<string>): Json {
  const shownMessage = (message: Message): Json =>
    lts.has(queryIdOf(message) ?? '') ? { ...message, message_content: null } : message;
  return {
    ...one,
    in_msg: one.in_msg && shownMessage(one.in_msg),
    out_msgs: one.out_msgs.map(shownMessage),
    fees_beside_storage: (BigInt(one['total_fees'] as string) - storageFee(one)).toString(),
  };
}

/** Actions by their fields, without amounts, which may differ a little. */
function sortActions({ actions }: ComparedTrace): readonly Json[] {
  const keyed = actions.map((one) => {
    const fields = Object.entries(one).filter(([name]) => !unknowable.has(name));
    return { one, key: JSON.stringify(fields, (name, value: unknown) => (isAmount(name, value) ? null : value)) };
  });
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ one }) => one);
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
