import { createHiddenProperty } from '../runtime/hidden-property.ts';
import type { TimeSlice } from '../runtime/time-slice.ts';
import { createUtf8Buffer } from '../runtime/utf8-buffer.ts';

/** Values in one another that are written at once: some 50 KB, well below a turn. */
const VALUES_AT_ONCE = 1000;

/** Short text, or long text as UTF-8 pieces. Joining pieces would block other work as long as writing them. */
export type PacedText = string | readonly Buffer[];

/** Value as its rendered JSON. A long answer holds it in place of objects, which would outlive their use. */
export class RawJson<T> {
  /** Never set: carries the type only. */
  declare readonly value?: T;
  /** Parts in order; bytes are UTF-8. */
  readonly parts: readonly (string | Buffer)[];

  constructor(parts: readonly (string | Buffer)[]) {
    this.parts = parts;
  }

  /** For `JSON.stringify`. */
  toJSON(): T {
    return JSON.parse(this.parts.join('')) as T;
  }
}

/** Renders an object directly from its entries. Hundreds of unique names never become keys of an object. */
export function writeEntries<T>(
  entries: Iterable<readonly [name: string, value: T | RawJson<T>]>,
): RawJson<Record<string, T>> {
  const parts: (string | Buffer)[] = [];
  let text = '{';
  let comma = '';
  for (const [name, value] of entries) {
    text += `${comma}${JSON.stringify(name)}:`;
    comma = ',';
    if (value instanceof RawJson) {
      parts.push(text, ...value.parts);
      text = '';
    } else text += JSON.stringify(value);
  }
  parts.push(`${text}}`);
  return new RawJson(parts);
}

/** Letters that are put together at once. */
const PART_LETTERS = 65_536;

/** Renders an object like `writeEntries`, from values that are JSON already. @param entries each with the JSON of its value */
export async function writeTexts<T>(
  entries: Iterable<readonly [name: string, json: string]>,
  timeSlice: TimeSlice,
): Promise<RawJson<Record<string, T>>> {
  const parts: string[] = [];
  let part = '{';
  let comma = '';
  for (const [name, json] of entries) {
    await timeSlice.pause();
    part += `${comma}${JSON.stringify(name)}:${json}`;
    comma = ',';
    if (part.length < PART_LETTERS) continue;
    parts.push(part);
    part = '';
  }
  return new RawJson([...parts, `${part}}`]);
}

/** Answers whose lists and maps have items of some milliseconds of JSON at most. */
const flat = createHiddenProperty<object, true>();

/** Marks the items of an answer's lists and maps as small. They are rendered singly, without counting first. */
export function markFlat<T extends object>(answer: T): T {
  flat.attach(answer, true);
  return answer;
}

/** An answer, its fields, and what is in those. */
const ITEM_DEPTH = 2;

/** The JSON of a value, as `JSON.stringify` writes it, however deep it is: in parts, with other requests in between. */
export async function writePaced(value: unknown, timeSlice: TimeSlice): Promise<PacedText> {
  if (value instanceof RawJson && value.parts.length === 1) {
    const [whole] = value.parts as readonly [string | Buffer];
    return typeof whole === 'string' ? whole : [whole];
  }
  const isFlat = typeof value === 'object' && value !== null && flat.of(value) === true;
  const isWhole = (item: object, depth: number): boolean =>
    isFlat ? depth >= ITEM_DEPTH : valuesLeft(item, VALUES_AT_ONCE) >= 0;
  if (isAtom(value) || isWhole(value, 0)) return JSON.stringify(value) ?? 'null';
  const { add, pieces } = createUtf8Buffer();
  /** False for what is to be written in parts. */
  const writeWhole = (item: unknown, depth: number): boolean => {
    if (item instanceof RawJson) item.parts.forEach(add);
    else if (isAtom(item) || isWhole(item, depth)) add(JSON.stringify(item) ?? 'null');
    else return false;
    return true;
  };
  const writeParts = async (container: object, depth: number): Promise<void> => {
    // Awaited even when there is no pause, so that what lies deep is not deep on the stack.
    await timeSlice.pause();
    const isList = Array.isArray(container);
    let opening = isList ? '[' : '{';
    for (const [name, item] of Object.entries(container)) {
      if (!isList && item === undefined) continue;
      add(isList ? opening : `${opening}${JSON.stringify(name)}:`);
      opening = ',';
      const rest = timeSlice.pause();
      if (rest !== undefined) await rest;
      if (!writeWhole(item, depth)) await writeParts(item as object, depth + 1);
    }
    if (opening !== ',') add(opening);
    add(isList ? ']' : '}');
  };
  if (!writeWhole(value, 0)) await writeParts(value, 1);
  return pieces();
}

const isAtom = (value: unknown): value is string | number | boolean | null | undefined =>
  typeof value !== 'object' || value === null;

/** Subtracts the nested values from a number of values. Negative: there are more, or a value is rendered already. */
function valuesLeft(value: unknown, values: number): number {
  let left = values - 1;
  if (typeof value !== 'object' || value === null) return left;
  if (value instanceof RawJson) return -1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = valuesLeft(value[at], left);
    return left;
  }
  for (const name in value) {
    if (left < 0) break;
    left = valuesLeft((value as Readonly<Record<string, unknown>>)[name], left);
  }
  return left;
}
