import { flipBit, forgeBit, forgePruned, pruneOne, sameRoots } from './mutations.ts';

/** An answer that differs from the recorded one in one place. */
export type AnswerMutation = {
  readonly answer: unknown;
  readonly what: string;
  /** The mutation may leave the meaning as it is: another layout of the same cells, a cell pruned that nobody reads. */
  readonly mayBeHarmless: boolean;
};

type Random = (n: number) => number;
type Path = readonly (string | number)[];
type Changed = { readonly value: unknown; readonly what: string; readonly mayBeHarmless: boolean };

/**
 * Changes one field of an answer, chosen by `random`; undefined when the choice changes nothing.
 * @param other another answer of the same kind: its fields are put in
 * @param unproved paths that are left alone
 */
export function mutateAnswer(
  answer: unknown,
  other: unknown,
  unproved: readonly string[],
  random: Random,
): AnswerMutation | undefined {
  const places = listPlaces(answer, []).filter((path) => !unproved.includes(pathText(path)));
  if (places.length === 0) return undefined;
  const path = places[random(places.length)]!;
  const value = at(answer, path);
  const changed = change(value, at(other, path), random);
  if (changed === undefined) return undefined;
  const { what, mayBeHarmless } = changed;
  return { answer: put(answer, path, changed.value), what: `${path.join('.')} ${what}`, mayBeHarmless };
}

function change(value: unknown, other: unknown, random: Random): Changed | undefined {
  if (Buffer.isBuffer(value)) return changeBytes(value, other, random);
  if (Array.isArray(value)) return changeList(value, random);
  const changed = changeScalar(value, random);
  return changed === undefined ? undefined : { value: changed, what: 'set to another value', mayBeHarmless: false };
}

function changeScalar(value: unknown, random: Random): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'bigint') return value ^ (1n << BigInt(random(63)));
  if (typeof value === 'number') return value + (random(2) === 0 ? 1 : -1);
  return undefined;
}

function changeList(list: readonly unknown[], random: Random): Changed | undefined {
  if (list.length === 0) return undefined;
  const index = random(list.length);
  const copy = [...list];
  const harmful = (what: string): Changed => ({ value: copy, what, mayBeHarmless: false });
  if (random(2) === 0) {
    copy.splice(index, 1);
    return harmful(`without element ${index}`);
  }
  copy.splice(index, 0, list[index]);
  return harmful(`element ${index} twice`);
}

function changeBytes(bytes: Buffer, other: unknown, random: Random): Changed | undefined {
  if (bytes.length === 0) {
    const fill = Buffer.isBuffer(other) && other.length > 0 ? other : undefined;
    return fill && { value: fill, what: 'put where nothing was', mayBeHarmless: false };
  }
  if (bytes.readUInt32BE(0) !== BOC_MAGIC) return changeRaw(bytes, other, random);
  switch (random(8)) {
    case 0:
      return rewritten(forgeBit(bytes, random), 'forged bit', false, bytes);
    case 1:
      return rewritten(forgePruned(bytes, random), 'forged pruned cell', false, bytes);
    case 2:
    case 3:
      return rewritten(pruneOne(bytes, random), 'pruned a cell', true, bytes);
    case 4:
      return Buffer.isBuffer(other) && !other.equals(bytes) ? swapped(other) : undefined;
    case 5:
      return { value: bytes.subarray(0, random(bytes.length)), what: 'cut', mayBeHarmless: false };
    default:
      return flipped(bytes, random);
  }
}

const BOC_MAGIC = 0xb5ee9c72;

function changeRaw(bytes: Buffer, other: unknown, random: Random): Changed | undefined {
  if (random(4) > 0)
    return { value: flipBit(bytes, random(bytes.length * 8)), what: 'flipped bit', mayBeHarmless: false };
  return Buffer.isBuffer(other) && !other.equals(bytes) ? swapped(other) : undefined;
}

/** Bytes of another answer: harmless only when both prove the same. */
function swapped(other: Buffer): Changed {
  return { value: other, what: 'taken from another answer', mayBeHarmless: true };
}

function rewritten(
  value: Buffer | undefined,
  what: string,
  mayBeHarmless: boolean,
  original: Buffer,
): Changed | undefined {
  if (value === undefined || value.equals(original)) return undefined;
  return { value, what, mayBeHarmless };
}

/** Some bits of a bag say nothing about its cells, such as the one for cached cells: then the roots must be the same. */
function flipped(bytes: Buffer, random: Random): Changed {
  const bit = random(bytes.length * 8);
  const value = flipBit(bytes, bit);
  return { value, what: `flipped bit ${bit}`, mayBeHarmless: readsAs(bytes, value) };
}

function readsAs(a: Buffer, b: Buffer): boolean {
  try {
    return sameRoots(a, b);
  } catch {
    return false;
  }
}

/** Every list, byte string and scalar of an answer. */
function listPlaces(value: unknown, path: Path): Path[] {
  if (Buffer.isBuffer(value) || typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([name, field]) =>
    listPlaces(field, [...path, Array.isArray(value) ? Number(name) : name]),
  );
  return Array.isArray(value) ? [path, ...inner] : inner;
}

function pathText(path: Path): string {
  return path.map((step) => (typeof step === 'number' ? '*' : step)).join('.');
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], value);
}

function put(value: unknown, path: Path, replacement: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...(value as object) };
  (copy as Record<string, unknown>)[step] = put((value as Record<string, unknown>)[step], rest, replacement);
  return copy;
}
