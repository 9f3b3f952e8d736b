import { beginCell } from '@ton/core';
import type { Builder } from '@ton/core';
import { readConstructor } from '#service/decode/messages/scheme-line.ts';
import type { Constructor, Field, Term } from '#service/decode/messages/scheme-line.ts';
import schemes from '#service/decode/messages/schemes.json' with { type: 'json' };
import { storeDictionary, type Entry } from './dictionary-writer.ts';
import { createValueWriter, storeBit, type Content, type Random } from './value-writer.ts';

/** All constructors of a body, in the order of trial. */
export const bodyConstructors: readonly Constructor[] = schemes.groups.flatMap((group) =>
  group.constructors.map(readConstructor),
);

const byType = Map.groupBy(schemes.types.map(readConstructor), (entry) => entry.type);

type Bound = number | { readonly term: Term; readonly scope: Scope };
type Scope = Record<string, Bound>;
type Shown = Record<string, unknown>;

/**
 * Writes random values by a scheme with `@ton/core` and returns their expected decoded form. It is an independent second reading of the same schemes.
 */
export function createBodyBuilder(random: Random) {
  const values = createValueWriter(random);

  function constructor(source: Constructor, builder: Builder, scope: Scope): unknown {
    for (const bit of source.tag) builder.storeBit(bit === '1');
    const target: Record<string, unknown> = source.name === '_' ? {} : { '@type': source.name };
    writeFields(source.fields, builder, { ...scope }, target);
    return target;
  }

  function writeFields(fields: readonly Field[], builder: Builder, scope: Scope, target: Shown): void {
    for (const [at, field] of fields.entries()) {
      if (field.kind === 'check') continue;
      if (field.term.kind === 'when' && !isThere(field.term, scope)) continue;
      const shown = writeField(field.term, builder, scope, checked(field, fields.slice(at + 1), random));
      target[field.name ?? ''] = shown;
      if (field.name !== undefined && typeof shown === 'string' && /^\d+$/.test(shown))
        scope[field.name] = Number(shown);
    }
  }

  /** Writes a field: a reference has no wrapper, and a type of one bit is true or false. */
  function writeField(term: Term, builder: Builder, scope: Scope, wanted?: number): unknown {
    if (term.kind === 'when') return writeField(term.of, builder, scope);
    if (term.kind === 'ref') return writeRef(term.of, builder, scope);
    if (term.kind === 'apply' && ONE_BIT.has(term.name)) return storeBit(builder, random(2) === 1);
    return write(term, builder, scope, wanted);
  }

  /** Writes an argument of a type, or the content of a cell. */
  function write(term: Term, builder: Builder, scope: Scope, wanted?: number): unknown {
    if (term.kind === 'ref') {
      const shown = writeRef(term.of, builder, scope);
      return isAnyCell(term.of) ? shown : { cell_reference: shown };
    }
    if (term.kind === 'group') {
      const target = {};
      writeFields(term.fields, builder, { ...scope }, target);
      return target;
    }
    if (term.kind !== 'apply') throw new Error('No type.');
    return writeType(term.name, term.args, builder, scope, wanted);
  }

  function writeRef(of: Term, builder: Builder, scope: Scope): unknown {
    if (isAnyCell(of)) {
      const { cell, shown } = values.content();
      builder.storeRef(cell);
      return shown;
    }
    const inside = beginCell();
    const shown = write(of, inside, scope);
    builder.storeRef(inside.endCell());
    return shown;
  }

  function writeType(name: string, args: readonly Term[], builder: Builder, scope: Scope, wanted?: number): unknown {
    const simple = writeSimple(name, args, builder, scope, wanted);
    if (simple !== undefined) return simple.shown;
    const bound = scope[name];
    if (typeof bound === 'object') return write(bound.term, builder, bound.scope);
    const choices = byType.get(name);
    if (choices === undefined) throw new Error(`No type ${name}.`);
    const source = choices[random(choices.length)]!;
    const inner: Scope = {};
    source.parameters.forEach((parameter, at) => {
      if (parameter.kind === 'type') inner[parameter.name] = { term: args[at]!, scope };
    });
    return constructor(source, builder, inner);
  }

  function writeSimple(
    name: string,
    args: readonly Term[],
    builder: Builder,
    scope: Scope,
    wanted: number | undefined,
  ): { readonly shown: unknown } | undefined {
    const width = /^(uint|int|bits)(\d+)$/.exec(name);
    if (width !== null) return { shown: values.width(width[1]!, Number(width[2]), builder) };
    const [first, second] = args;
    switch (name) {
      case '##':
        return { shown: values.number(first?.kind === 'number' ? first.value : 0, builder, wanted) };
      case '#':
        return { shown: values.number(32, builder, wanted) };
      case 'bits':
        return { shown: values.width('bits', 8 * lengthOf(first!, scope), builder) };
      case 'Bit':
        return { shown: { bit: storeBit(builder, random(2) === 1) ? '1' : '0' } };
      case 'Coins':
        return { shown: { '@type': 'nanocoins', amount: values.varUint(16, builder) } };
      case 'Grams':
        return { shown: { '@type': 'nanograms', amount: values.varUint(16, builder) } };
      case 'VarUInteger':
        return { shown: values.varUint(first?.kind === 'number' ? first.value : 16, builder) };
      case 'MsgAddress':
      case 'MsgAddressInt':
      case 'MsgAddressExt':
        return { shown: values.address(name, builder) };
      case 'Maybe':
        return { shown: writeMaybe(random, builder, () => write(first!, builder, scope)) };
      case 'Either':
        return {
          shown: writeEither(random, builder, (isSecond) => write(isSecond ? second! : first!, builder, scope)),
        };
      case 'Hashmap':
      case 'HashmapE':
        return { shown: writeDictionary(name, first!, second!, builder, scope) };
      case 'Cell':
      case 'Any':
        return { shown: values.rest(builder) };
      case 'SnakeString':
        return { shown: values.snake(builder) };
      case 'Text':
        return { shown: values.text(builder) };
      default:
        return undefined;
    }
  }

  function writeDictionary(kind: string, keyTerm: Term, of: Term, builder: Builder, scope: Scope): unknown {
    const keyBits = keyTerm.kind === 'number' ? keyTerm.value : 0;
    const entries = new Map<bigint, Entry>();
    for (let left = (kind === 'Hashmap' ? 1 : 0) + random(3); left > 0; left--) {
      const key = values.bits(keyBits);
      if (entries.has(key)) continue;
      const value = beginCell();
      const shown = write(of, value, scope);
      entries.set(key, { cell: value.endCell(), shown });
    }
    return storeDictionary(kind, keyBits, entries, builder);
  }

  return {
    /** Returns a body of the constructor, its tag first, and its decoded form. */
    body(source: Constructor): Content {
      const builder = beginCell();
      const shown = constructor(source, builder, {});
      return { cell: builder.endCell(), shown };
    },
  };
}

function writeMaybe(random: Random, builder: Builder, write: () => unknown): unknown {
  if (!storeBit(builder, random(2) === 1)) return { '@type': 'nothing_from_maybe' };
  return { '@type': 'something_from_maybe', value: write() };
}

function writeEither(random: Random, builder: Builder, write: (isSecond: boolean) => unknown): unknown {
  const isSecond = storeBit(builder, random(2) === 1);
  return { '@type': isSecond ? 'second_from_either' : 'first_from_either', value: write(isSecond) };
}

/** Returns a number that the checks after a field allow; undefined when there are none. */
function checked(field: Field, behind: readonly Field[], random: Random): number | undefined {
  const checks = behind.filter((entry) => entry.kind === 'check').filter((entry) => entry.name === field.name);
  if (checks.length === 0) return undefined;
  const exact = checks.find((entry) => entry.relation === '=');
  if (exact !== undefined) return exact.value;
  const least = checks.find((entry) => entry.relation === '>=')?.value ?? 0;
  const most = checks.find((entry) => entry.relation === '<=')?.value ?? least + 100;
  return least + random(most - least + 1);
}

/** Types whose two values are one bit. */
const ONE_BIT = new Set(['Bool', 'Bit', 'uint1', 'DedustSwapKind', 'StormDirection', 'StormExecuteSelector']);

function isAnyCell(of: Term): boolean {
  return of.kind === 'apply' && /^(Cell|Any)$/.test(of.name);
}

function isThere({ name, bit }: Term & { kind: 'when' }, scope: Scope): boolean {
  const number = Number(scope[name]);
  return bit === undefined ? number !== 0 : ((number >> bit) & 1) === 1;
}

function lengthOf(term: Term, scope: Scope): number {
  return term.kind === 'product' && term.left.kind === 'apply' ? Number(scope[term.left.name]) : 0;
}
