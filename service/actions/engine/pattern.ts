import type { ReadBudget } from '#service/decode/read-budget.ts';
import { BOUNCE_OPCODES } from '#service/decode/tlb/bounced-body.ts';
import type { TraceFragment } from './trace-fragment.ts';
import { callOf } from './basic-blocks.ts';
import type { Interfaces } from './interfaces.ts';

/** Context of tests and builders besides blocks. */
export type Context = { readonly interfaces: Interfaces };

/**
 * Shape of the blocks around a block (service/actions/README.md#matchers): a test of the block itself, then of its neighbours.
 * `child` takes every following block that fits, `children` a different block for each entry, and `parent` the block before.
 */
export type Pattern = {
  /** The block must be a contract call with one of these opcodes, besides the test. */
  readonly opcodes?: ReadonlySet<number>;
  readonly test?: (block: TraceFragment, context: Context) => boolean;
  readonly label?: string;
  /** It need not be there. */
  readonly optional?: boolean;
  /** Leaves the excesses and bounces after the block. Every block except the root of a pattern takes them. */
  readonly leavesExcesses?: boolean;
  readonly child?: Pattern;
  readonly children?: readonly Pattern[];
  readonly parent?: Pattern;
  /** In place of a test of its own: the first pattern that fits, or the only one. */
  readonly choice?: { readonly kind: 'first' | 'only'; readonly of: readonly Pattern[] };
  /** In place of a test of its own: `step` down the tree, any number of times, then `until`. */
  readonly repeat?: { readonly step: Pattern; readonly until: Pattern };
  /** In place of a test of its own: for patterns that contain themselves. */
  readonly lazy?: () => Pattern;
};

/** A contract call with one of these opcodes. */
export function call(...opcodes: readonly number[]): Pattern {
  return { opcodes: new Set(opcodes) };
}

/** A block of one of these types. */
export function built(types: string | readonly string[], test: Pattern['test'] = () => true): Pattern {
  const wanted = new Set(typeof types === 'string' ? [types] : types);
  return { test: (block, context) => wanted.has(block.type) && test(block, context) };
}

/** Any block. */
export const any: Pattern = { test: () => true };

export const first = (...of: readonly Pattern[]): Pattern => ({ choice: { kind: 'first', of } });
export const only = (...of: readonly Pattern[]): Pattern => ({ choice: { kind: 'only', of } });
export const repeat = (step: Pattern, until: Pattern): Pattern => ({ repeat: { step, until } });
export const lazy = (pattern: () => Pattern): Pattern => ({ lazy: pattern });
export const maybe = (pattern: Pattern): Pattern => ({ ...pattern, optional: true });
export const as = (label: string, pattern: Pattern): Pattern => ({ ...pattern, label });
/** `pattern`, which `child` follows. */
export const followedBy = (pattern: Pattern, child: Pattern): Pattern => ({ ...pattern, child });
/** `pattern`, which all of `children` follow. */
export const followedByAll = (pattern: Pattern, ...children: readonly Pattern[]): Pattern => ({ ...pattern, children });
/** `pattern`, which follows `parent`. */
export const after = (parent: Pattern, pattern: Pattern): Pattern => ({ ...pattern, parent });
export const withoutExcesses = (pattern: Pattern): Pattern => ({ ...pattern, leavesExcesses: true });

/** Blocks that fit a pattern. */
export type Found = {
  readonly blocks: readonly TraceFragment[];
  /** The first block of a label. */
  one(label: string): TraceFragment | undefined;
  /** All blocks of a label, in the order in which they were found. */
  all(label: string): readonly TraceFragment[];
};

type Match = { readonly block: TraceFragment; readonly label: string | undefined };

const EXCESSES: ReadonlySet<number> = new Set([0xd53276db, ...BOUNCE_OPCODES]);

/** True for an excess or a bounced message. */
export function isExcess(block: TraceFragment): boolean {
  return EXCESSES.has(callOf(block)?.opcode ?? -1);
}

/** Blocks one below the other that one pattern may walk: the largest traces are some hundreds deep. */
const DEPTH_MAX = 512;

/** Search for a pattern. `matches` has all that fits so far. */
type Search = { readonly context: Context; readonly budget: ReadBudget; readonly matches: Match[] };

/**
 * The blocks that fit, the root first; undefined when the root or anything around it does not.
 * @param budget takes a step for each pattern tried on a block. Throws DecodeError `too_big` when it is spent.
 */
export function match(pattern: Pattern, root: TraceFragment, context: Context, budget: ReadBudget): Found | undefined {
  const matches: Match[] = [];
  if (!matchAt(pattern, root, { context, budget, matches }, 0, true)) return undefined;
  return {
    blocks: [...new Set(matches.map(({ block }) => block))],
    one: (label) => matches.find((found) => found.label === label)?.block,
    all: (label) => matches.filter((found) => found.label === label).map(({ block }) => block),
  };
}

/** Adds what fits to the matches, the block first. False when something does not fit: the matches are as before. */
function matchAt(pattern: Pattern, block: TraceFragment, search: Search, depth: number, isRoot = false): boolean {
  if (depth > DEPTH_MAX) return false;
  search.budget.step();
  const { label, choice } = pattern;
  if (pattern.lazy !== undefined) return matchAt(pattern.lazy(), block, search, depth + 1, isRoot);
  const { matches } = search;
  const start = matches.length;
  const isFound =
    choice !== undefined
      ? choose(choice, block, search, depth)
      : pattern.repeat !== undefined
        ? walk(pattern.repeat, block, search, depth)
        : matchAround(pattern, block, search, depth, isRoot);
  if (!isFound) matches.length = start;
  else if (choice !== undefined && label !== undefined) labelFrom(start, label, block, matches);
  return isFound;
}

/** On failure the caller drops what was added. */
function matchAround(pattern: Pattern, block: TraceFragment, search: Search, depth: number, isRoot: boolean): boolean {
  if (!fits(pattern, block, search.context)) return false;
  const { matches } = search;
  const { child, children = [], parent } = pattern;
  // Before the walk over all that follows: otherwise each block of a chain begins a walk.
  const above: Match[] = [];
  if (parent !== undefined) {
    const isFound =
      block.previous !== undefined && matchAt(parent, block.previous, { ...search, matches: above }, depth + 1);
    if (!isFound && parent.optional !== true) return false;
  }
  matches.push({ block, label: pattern.label });
  if (child !== undefined) {
    let count = 0;
    for (const next of block.next) if (matchAt(child, next, search, depth + 1)) count++;
    if (count === 0 && child.optional !== true) return false;
  }
  const taken = new Set<TraceFragment>();
  for (const entry of children) {
    const found = block.next.find((next) => !taken.has(next) && matchAt(entry, next, search, depth + 1));
    if (found !== undefined) taken.add(found);
    else if (entry.optional !== true) return false;
  }
  matches.push(...above);
  if (pattern.leavesExcesses !== true && !isRoot) {
    for (const next of block.next) if (isExcess(next)) matches.push({ block: next, label: undefined });
  }
  return true;
}

/** Tests the block itself. A pattern without opcodes and without a test fits no block. */
function fits({ opcodes, test }: Pattern, block: TraceFragment, context: Context): boolean {
  if (opcodes !== undefined && !opcodes.has(callOf(block)?.opcode ?? -1)) return false;
  return test === undefined ? opcodes !== undefined : test(block, context);
}

/** Levels of patterns inside a pattern to look into. A pattern that contains itself has no end. */
const LEVELS_MAX = 16;

/** Opcodes of which each match of a pattern has at least one, in a block of its own. Undefined if a match may have none. */
export function neededOpcodes(pattern: Pattern, level = 0): ReadonlySet<number> | undefined {
  if (level > LEVELS_MAX) return undefined;
  const needed = (inner: Pattern): ReadonlySet<number> | undefined => neededOpcodes(inner, level + 1);
  const { choice, repeat: repeated, opcodes, child, children = [], parent } = pattern;
  if (pattern.lazy !== undefined) return needed(pattern.lazy());
  if (choice !== undefined) return unionOf(choice.of.map(needed));
  if (repeated !== undefined) return needed(repeated.until);
  if (opcodes !== undefined) return opcodes;
  const around = [child, ...children, parent].filter((inner) => inner !== undefined && inner.optional !== true);
  return around.map((inner) => needed(inner!)).find((found) => found !== undefined);
}

/** Union of sets; undefined if one is missing. */
export function unionOf(sets: readonly (ReadonlySet<number> | undefined)[]): ReadonlySet<number> | undefined {
  return sets.includes(undefined) ? undefined : new Set(sets.flatMap((set) => [...set!]));
}

function choose(
  { kind, of }: NonNullable<Pattern['choice']>,
  block: TraceFragment,
  search: Search,
  depth: number,
): boolean {
  if (kind === 'first') return of.some((one) => matchAt(one, block, search, depth + 1));
  return of.filter((one) => matchAt(one, block, search, depth + 1)).length === 1;
}

function walk(
  { step, until }: NonNullable<Pattern['repeat']>,
  block: TraceFragment,
  search: Search,
  depth: number,
): boolean {
  if (matchAt(until, block, search, depth + 1)) return true;
  const { matches } = search;
  const start = matches.length;
  if (!matchAt(step, block, search, depth + 1)) return false;
  if (block.next.some((next) => walk({ step, until }, next, search, depth + 1))) return true;
  matches.length = start;
  return false;
}

/** A label on a choice names the block that the choice was about. */
function labelFrom(start: number, label: string, block: TraceFragment, matches: Match[]): void {
  for (let at = start; at < matches.length; at++) {
    const found = matches[at]!;
    if (found.block === block && found.label === undefined) matches[at] = { block, label };
  }
}
