import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompressSync } from 'node:zlib';

import { isVisible } from '#service/v3/request/action-versions.ts';
import type { Change, Position, StreamAction, TraceSnapshot } from '../changes.ts';
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
  readonly head: string;
  readonly body: Buffer;
};

/** Head of a record in the log. */
export type DecodedHead = { readonly head: LevelHead; readonly behind: Position | null };

/** Compressed bytes of a record. A trace of 1,000 transactions takes about half of it. */
const BODY_BYTES_MAX = 1024 * 1024;

/** Bytes of a record's text. Its parse takes some 50 ms. */
const TEXT_BYTES_MAX = 16 * 1024 * 1024;

/** Level of records after which a thing starts again. */
const RESET = 'reset';

const compress = promisify(zstdCompress);

/** @returns undefined for a change that is too large for the log */
export async function encodeRecord(change: Change, behind: Position | null): Promise<EncodedRecord | undefined> {
  const text = textOf(change);
  if (text === undefined || text.length > TEXT_BYTES_MAX) return undefined;
  const body = await compress(text);
  if (body.length > BODY_BYTES_MAX) return undefined;
  const print = createHash('sha1').update(text).digest('base64');
  const head = JSON.stringify({ head: headOf(change), behind } satisfies DecodedHead);
  return { ...comparisonOf(change, print), head, body };
}

export function decodeHead(text: string): DecodedHead {
  return JSON.parse(text) as DecodedHead;
}

export function decodeChange(body: Uint8Array): Change {
  const text = zstdDecompressSync(body, { maxOutputLength: 2 * TEXT_BYTES_MAX }).toString();
  const stored = JSON.parse(text) as StoredChange;
  if (stored.kind !== 'trace') return stored;
  const { actions, fresh, ...rest } = stored;
  return { ...rest, actions: actions.map(openAction), ...(fresh && { fresh: new Set(fresh) }) };
}

type StoredAction = Omit<StreamAction, 'viewFor'> & { readonly view: object };

type StoredTrace = Omit<TraceSnapshot, 'actions' | 'fresh'> & {
  readonly actions: readonly StoredAction[];
  readonly fresh?: readonly string[];
};

type StoredChange = StoredTrace | Exclude<Change, TraceSnapshot>;

/** Undefined for a tree that is too deep for the stack. */
function textOf(change: Change): string | undefined {
  try {
    return JSON.stringify(change.kind === 'trace' ? storedTrace(change) : change);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function storedTrace({ actions, fresh, ...rest }: TraceSnapshot): StoredTrace {
  return { ...rest, actions: actions.flatMap(storedAction), ...(fresh && { fresh: [...fresh] }) };
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
