import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';

import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { isVisible } from '#service/v3/request/action-versions.ts';
import type { Change, Position, SnapshotName, StreamAction, StreamTransaction, TraceSnapshot } from '../changes.ts';
import { headOf, type LevelHead } from '../hub/levels-log.ts';

/** A change as the shared log has it. */
export type EncodedRecord = {
  /** Names the thing whose states are compared: a trace, an account or a jetton wallet. */
  readonly thing: string;
  /** Names the level of the thing. A record with the print of the newest one of its level is refused. */
  readonly level: string;
  readonly print: string;
  /** The thing starts again: states before it are compared no more. */
  readonly isReset: boolean;
  /** Snapshot of the thing that a withdrawal takes back: with a newer one of the level the record is refused. Null: it is never refused. */
  readonly withdraws: SnapshotName | null;
  readonly head: string;
  readonly body: Buffer;
};

/** Head of a record in the log. */
export type DecodedHead = { readonly head: LevelHead; readonly behind: Position | null };

/** Compressed bytes of a record. A trace of 1,000 transactions takes about half of it. */
const BODY_BYTES_MAX = 1024 * 1024;

/** Characters of a record's text. */
const TEXT_MAX = 16 * 1024 * 1024;

/** Level of records after which a thing starts again. */
const RESET = 'reset';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** @returns undefined for a change that is too large for the log */
export async function encodeRecord(change: Change, behind: Position | null): Promise<EncodedRecord | undefined> {
  const lines = await linesOf(change);
  if (lines === undefined || lines.reduce((sum, { length }) => sum + length, 0) > TEXT_MAX) return undefined;
  const body = await compress(lines.join('\n'));
  if (body.length > BODY_BYTES_MAX) return undefined;
  const head = JSON.stringify({ head: headOf(change), behind } satisfies DecodedHead);
  const withdraws = change.kind === 'invalidation' ? (change.withdraws ?? null) : null;
  return { ...comparisonOf(change, await printOf(change, lines)), withdraws, head, body };
}

/** @throws Error for a text of another writer */
export function decodeHead(text: string): DecodedHead {
  const { head, behind } = JSON.parse(text) as DecodedHead;
  if (!Array.isArray(head.names) || !Array.isArray(head.accounts)) throw new Error('the head has no names');
  return { head, behind };
}

/** @returns undefined for bytes of another writer: the change is left out, as one that is too large */
export async function decodeChange(body: Uint8Array, kind: Change['kind']): Promise<Change | undefined> {
  try {
    const text = await decompress(body, { maxOutputLength: 4 * TEXT_MAX });
    const slice = createTimeSlice(undefined);
    const [first, ...lines] = await mapInSlices(
      text.toString().split('\n'),
      (line) => JSON.parse(line) as unknown,
      slice,
    );
    const stored = first as StoredTrace | Exclude<Change, TraceSnapshot>;
    if (stored.kind !== kind) return undefined;
    if (stored.kind !== 'trace') return isReadable(stored) ? stored : undefined;
    const { count, fresh, ...rest } = stored;
    const transactions = lines.slice(0, count) as readonly StreamTransaction[];
    const actions = (lines.slice(count) as readonly StoredAction[]).map(openAction);
    return { ...rest, transactions, actions, ...(fresh && { fresh: new Set(fresh) }) };
  } catch {
    return undefined;
  }
}

/** Reports whether the order of a state can be compared. A record of another writer may have no lt. */
function isReadable(change: Exclude<Change, TraceSnapshot>): boolean {
  if (change.kind === 'invalidation') return true;
  const { last_transaction_lt: lt } = change.kind === 'state' ? change.state : change.jetton;
  return lt === null || (typeof lt === 'string' && /^\d{1,20}$/.test(lt));
}

type StoredAction = Omit<StreamAction, 'viewFor'> & { readonly view: object };

/** First line of a trace. Its transactions follow, as many as the count, then its actions, each in a line: no parse is long. */
type StoredTrace = Omit<TraceSnapshot, 'transactions' | 'actions' | 'fresh'> & {
  readonly count: number;
  readonly fresh?: readonly string[];
};

/** Undefined for a tree that is too deep for the stack. */
async function linesOf(change: Change): Promise<readonly string[] | undefined> {
  // The log refuses a withdrawal when it is added, so readers need no name.
  if (change.kind === 'invalidation') return [JSON.stringify({ ...change, withdraws: undefined })];
  if (change.kind !== 'trace') return [JSON.stringify(change)];
  const { transactions, actions, fresh, ...rest } = change;
  const first: StoredTrace = { ...rest, count: transactions.length, ...(fresh && { fresh: [...fresh] }) };
  const slice = createTimeSlice(undefined);
  try {
    return await mapInSlices(
      [first, ...transactions, ...actions.flatMap(storedAction)],
      (one) => JSON.stringify(one),
      slice,
    );
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** In a text of JSON: a quote within a value has a backslash before it. */
const nextBlocks = /"mc_block_seqno":\d+/g;

/**
 * Print of the content that is compared. A signed transaction names the next masterchain block of its maker, and pods see that block at different
 * times. So a block's number alone makes no other content of a trace.
 */
async function printOf(change: Change, lines: readonly string[]): Promise<string> {
  const print = createHash('sha1');
  const isSigned = change.kind === 'trace' && change.position === null;
  const add = (line: string): unknown => print.update(isSigned ? line.replace(nextBlocks, '') : line).update('\n');
  await mapInSlices(lines, add, createTimeSlice(undefined));
  return print.digest('base64');
}

function storedAction(action: StreamAction): StoredAction[] {
  const { type, ancestorTypes, accounts, named } = action;
  // An action that is not visible by its own type alone has an ancestor of this type, so no vocabulary shows it.
  const view = action.viewFor(new Set([type]));
  return view === null ? [] : [{ type, ancestorTypes, accounts, named, view }];
}

function openAction({ view, ...action }: StoredAction): StreamAction {
  return { ...action, viewFor: (supported) => (isVisible(action, supported) ? view : null) };
}

/** States have their place in the chain in them, so equal ones are the same. A trace may have a former content again. */
function comparisonOf(change: Change, print: string): Pick<EncodedRecord, 'thing' | 'level' | 'print' | 'isReset'> {
  if (change.kind === 'invalidation') {
    return { thing: `trace:${change.key}`, level: RESET, print: change.reason, isReset: true };
  }
  if (change.kind === 'trace') {
    const { key, finality, position } = change;
    const level = position === null ? finality : `part:${position.mcSeqno}:${position.index}`;
    return { thing: `trace:${key}`, level, print, isReset: false };
  }
  const account = change.kind === 'state' ? change.account : change.accounts[0];
  const thing = `${change.kind}:${account}`;
  if (change.isCorrection === true) return { thing, level: RESET, print, isReset: true };
  return { thing, level: print, print, isReset: false };
}
