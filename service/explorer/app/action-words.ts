import { actionSentences } from './action-sentences.gen.ts';
import type { Action } from './objects.ts';

/** A piece of a sentence. */
export type Piece =
  /** Words of the explorer, or a value without a form of its own. */
  | { readonly kind: 'text'; readonly text: string }
  /** Null: the outside of the chain. */
  | { readonly kind: 'account'; readonly address: string | null }
  | { readonly kind: 'ton'; readonly units: string }
  | { readonly kind: 'token'; readonly asset: string; readonly units: string }
  /** A token or an item, shown by its own name. */
  | { readonly kind: 'item'; readonly address: string }
  /** A text that a contract's author wrote. */
  | { readonly kind: 'note'; readonly text: string; readonly isEncrypted: boolean };

/** An action for people. `sentence` is empty for a type without a sentence: show the details. */
export type ActionWords = { readonly title: string; readonly sentence: readonly Piece[] };

type Details = Action['details'];
type Part = { readonly isOptional: boolean; readonly marks: readonly (string | Mark)[] };
type Mark = { readonly kind: string; readonly path: string; readonly asset: string | undefined };

const parsed = new Map<string, readonly Part[]>();

/** @param action of v3, the streaming API or the emulation API */
export function wordsOfAction({ type, details }: Pick<Action, 'type' | 'details'>): ActionWords {
  const known = Object.hasOwn(actionSentences, type) ? actionSentences[type] : undefined;
  if (known === undefined) return { title: titleOf(type), sentence: [] };
  const [title, template] = known;
  let parts = parsed.get(type);
  if (parts === undefined) {
    parts = parseSentence(template);
    parsed.set(type, parts);
  }
  return { title, sentence: joinTexts(parts.flatMap((part) => drawPart(part, details))) };
}

/** Names of details that a sentence shows. */
export function namesInSentence(template: string): readonly string[] {
  return parseSentence(template).flatMap(({ marks }) =>
    marks.flatMap((mark) =>
      typeof mark === 'string' ? [] : mark.asset === undefined ? [mark.path] : [mark.path, mark.asset],
    ),
  );
}

/** `some_new_type` -> `Some new type`. */
function titleOf(type: string): string {
  const text = type.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function parseSentence(template: string): readonly Part[] {
  return [...template.matchAll(/\[([^\]]*)\]|[^[\]]+/g)].map(([whole, optional]) => ({
    isOptional: optional !== undefined,
    marks: [...(optional ?? whole).matchAll(/\{([@$#!"%]?)([\w.]+)(?:\/(\w+))?\}|[^{}]+/g)].map(
      ([text, kind = '', path, asset]) => (path === undefined ? text : { kind, path, asset }),
    ),
  }));
}

function drawPart({ isOptional, marks }: Part, details: Details): readonly Piece[] {
  const drawn: Piece[] = [];
  for (const mark of marks) {
    if (typeof mark === 'string') drawn.push({ kind: 'text', text: mark });
    else {
      const piece = drawMark(mark, details);
      if (piece === undefined && isOptional) return [];
      drawn.push(piece ?? absentPiece(mark));
    }
  }
  return drawn;
}

/** Undefined for an absent value. */
function drawMark({ kind, path, asset }: Mark, details: Details): Piece | undefined {
  const value = valueAt(details, path);
  if (kind === '"') return drawNote(value, details);
  if (kind === '%') return drawCurrencies(value);
  if (typeof value === 'number' || typeof value === 'boolean') return { kind: 'text', text: String(value) };
  if (typeof value !== 'string' || value === '') return undefined;
  switch (kind) {
    case '@':
      return { kind: 'account', address: value };
    case '!':
      return { kind: 'item', address: value };
    case '$':
      return isInteger(value) ? { kind: 'ton', units: value } : undefined;
    case '#': {
      if (!isInteger(value)) return undefined;
      const token = valueAt(details, asset ?? '');
      return typeof token === 'string' && token !== ''
        ? { kind: 'token', asset: token, units: value }
        : { kind: 'ton', units: value };
    }
    default:
      return { kind: 'text', text: value };
  }
}

function drawNote(value: unknown, details: Details): Piece | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const isEncrypted = details['encrypted'] === true || details['is_encrypted_comment'] === true;
  return { kind: 'note', text: value, isEncrypted };
}

/** Currencies of one sentence; the raw JSON has all of them. */
const CURRENCIES_MAX = 5;

/** Amounts of extra currencies have no known decimals. */
function drawCurrencies(value: unknown): Piece | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const all = Object.entries(value);
  if (all.length === 0) return undefined;
  const shown = all.slice(0, CURRENCIES_MAX).map(([id, units]) => `${String(units)} units of currency ${id}`);
  return { kind: 'text', text: [...shown, ...(all.length > CURRENCIES_MAX ? ['…'] : [])].join(', ') };
}

function absentPiece({ kind }: Mark): Piece {
  return kind === '@' ? { kind: 'account', address: null } : { kind: 'text', text: '?' };
}

const isInteger = (text: string): boolean => /^-?\d+$/.test(text);

function valueAt(details: unknown, path: string): unknown {
  let value: unknown = details;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Details)[name];
  }
  return value;
}

function joinTexts(pieces: readonly Piece[]): readonly Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text')
      joined[joined.length - 1] = { kind: 'text', text: last.text + piece.text };
    else joined.push(piece);
  }
  return joined;
}
