import type { ContractSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import { setValue, takeRef, typed } from './decoded.ts';
import type { BodyBudget, ReadObject } from './decoded.ts';
import { readLabelObject } from './dictionary-labels.ts';
import type { Constructor, Field, Parameter, Term } from './scheme-line.ts';
import { constant, failed, fixedWidth, isBuiltIn, isEmpty, numberReader, PLAIN } from './simple-types.ts';
import type { Read, Scope } from './simple-types.ts';

type OpenScope = { [name: string]: number | Read };

type Choice = {
  readonly tagBits: number;
  readonly tag: number;
  readonly parameters: readonly Parameter[];
  readonly read: Read;
};

/** Readers for the constructors of a set of types. */
export type Readers = {
  /** Reads the fields of one constructor, after its tag. */
  readonly constructor: (source: Constructor) => Read;
  /** Reads a type by its name with numbers as arguments. */
  readonly type: (name: string, args: readonly number[]) => Read;
  /** Constructors of a type, in their order. */
  readonly constructorsOf: (name: string) => readonly Constructor[];
};

/** Value of an argument of a type. */
type Argument = (scope: Scope) => number | Read;

const NO_SCOPE: Scope = {};
const NO_VALUES: readonly never[] = [];

/** `HashmapNode m X`. */
const NODE_ARGUMENTS: readonly Argument[] = [({ m }) => m!, ({ X }) => X!];

/** Compiles readers of types once. Undefined types throw Error here, not while reading. */
export function createReaders(constructors: readonly Constructor[]): Readers {
  const byType = Map.groupBy(constructors, (entry) => entry.type);
  const choices = new Map<string, readonly Choice[]>();

  function choicesOf(name: string): readonly Choice[] {
    const known = choices.get(name);
    if (known !== undefined) return known;
    const own = byType.get(name);
    if (own === undefined) throw new Error(`The schemes define no ${name}.`);
    const made: Choice[] = [];
    // The type is registered before its constructors are compiled, because a type may contain itself.
    choices.set(name, made);
    // A constructor without a tag is tried last.
    for (const source of own.toSorted((a, b) => b.tag.length - a.tag.length)) {
      const { tag, parameters } = source;
      made.push({
        tagBits: tag.length,
        tag: tag === '' ? 0 : Number.parseInt(tag, 2),
        parameters,
        read: constructorReader(source),
      });
    }
    return made;
  }

  function typeReader(name: string, args: readonly Argument[], isFixed: boolean): Read {
    const found = choicesOf(name);
    // Arguments that depend on no name are the same in each read. The type itself may not be compiled yet.
    let known: readonly (Scope | undefined)[] | undefined;
    const bindAll = (): readonly (Scope | undefined)[] => {
      const values = args.map((arg) => arg(NO_SCOPE));
      return found.map(({ parameters }) => bind(parameters, values));
    };
    return (slice, scope, budget) => {
      budget.step();
      const scopes = isFixed ? (known ??= bindAll()) : undefined;
      const values = isFixed ? NO_VALUES : args.map((arg) => arg(scope));
      for (let at = 0; at < found.length; at++) {
        const choice = found[at]!;
        if (!hasTag(slice, choice)) continue;
        const inner = scopes === undefined ? bind(choice.parameters, values) : scopes[at];
        if (inner === undefined) continue;
        slice.skip(choice.tagBits);
        return choice.read(slice, inner, budget);
      }
      throw failed(slice, name);
    };
  }

  function constructorReader(source: Constructor): Read {
    const read = fieldsReader(source.fields);
    const { name } = source;
    return (slice, scope, budget) => {
      const target = name === '_' ? {} : typed(name, budget);
      read(slice, scope, budget, target);
      return target;
    };
  }

  function fieldsReader(fields: readonly Field[]) {
    const wanted = new Set(fields.flatMap(namesWanted));
    const steps = fields.map((field) =>
      field.kind === 'check' ? checkReader(field) : valueReader(field, fieldReader(field.term), isTold(field, wanted)),
    );
    const tells = fields.some((field) => isTold(field, wanted));
    return (slice: ContractSlice, scope: Scope, budget: BodyBudget, target: ReadObject): void => {
      // Most constructors add no name to the scope.
      const inner = tells ? { ...scope } : scope;
      for (const step of steps) step(slice, inner, budget, target);
    };
  }

  /** Reads a type as a field: a reference is what it refers to, and any type of one bit is true or false (service/v3/README.md#decoding). */
  function fieldReader(term: Term): Read {
    if (term.kind === 'when') return fieldReader(term.of);
    if (term.kind === 'ref') return contentReader(term.of, termReader);
    return term.kind === 'apply' && isOneBit(term.name, byType) ? (slice) => slice.bit() : termReader(term);
  }

  /** Reads a type as an argument of another type, or as the content of a cell. */
  function termReader(term: Term): Read {
    if (term.kind === 'ref') return isAnyCell(term.of) ? takeRef : referenceReader(contentReader(term.of, termReader));
    if (term.kind === 'group') {
      const read = fieldsReader(term.fields);
      return (slice, scope, budget) => {
        const target: ReadObject = {};
        read(slice, scope, budget, target);
        return target;
      };
    }
    if (term.kind !== 'apply') throw new Error('No type stands where one is wanted.');
    return applyReader(term);
  }

  function applyReader(term: Term & { kind: 'apply' }): Read {
    const { name, args } = term;
    const plain = PLAIN[name] ?? fixedWidth(name);
    if (plain !== undefined) return plain;
    if (byType.has(name)) return typeReader(name, args.map(argument), isClosed(term, byType));
    if (name === 'Hashmap')
      return edgeReader(argument(args[0]!), argument(args[1]!), () => typeReader('HashmapNode', NODE_ARGUMENTS, false));
    const number = numberReader(name, args);
    if (number !== undefined) return number;
    // The other case is a parameter of the type around.
    return (slice, scope, budget) => {
      const bound = scope[name];
      if (typeof bound !== 'function') throw failed(slice, name);
      return bound(slice, NO_SCOPE, budget);
    };
  }

  function argument(term: Term): Argument {
    if (term.kind === 'number') return () => term.value;
    if (term.kind === 'apply' && !isClosed({ ...term, args: [] }, byType)) {
      const [more] = term.args;
      if (more === undefined) return (scope) => scope[term.name]!;
      return (scope) => Number(scope[term.name]) + constant(more);
    }
    const read = termReader(term);
    return (scope) => (slice, _scope, budget) => read(slice, scope, budget);
  }

  return {
    constructor: constructorReader,
    type: (name, args) =>
      typeReader(
        name,
        args.map((value) => () => value),
        true,
      ),
    constructorsOf: (name) => byType.get(name) ?? [],
  };
}

type Types = ReadonlyMap<string, readonly Constructor[]>;

/**
 * `hashmap_edge#_ {n:#} {X:Type} {l:#} {m:#} label:(HmLabel ~l n) {n = (~m) + l} node:(HashmapNode m X) = Hashmap n X`.
 * @param keyBits bits of its keys that are left
 */
function edgeReader(keyBits: Argument, of: Argument, nodeReader: () => Read): Read {
  let readNode: Read | undefined;
  return (slice, scope, budget) => {
    // The type of nodes contains this type.
    readNode ??= nodeReader();
    const edge = typed('hashmap_edge', budget);
    const rest = Number(keyBits(scope));
    const { label, length } = readLabelObject(slice, rest, budget);
    setValue(edge, 'label', label, budget);
    setValue(edge, 'node', readNode(slice, { m: rest - length, X: of(scope) }, budget), budget);
    return edge;
  };
}

/** Reads the content of a reference. */
function contentReader(of: Term, termReader: (term: Term) => Read): Read {
  return isAnyCell(of) ? takeRef : refReader(termReader(of));
}

/** Reports whether no name around it changes a type. */
function isClosed(term: Term, types: Types): boolean {
  return namesIn(term).every(
    (name) => PLAIN[name] !== undefined || types.has(name) || fixedWidth(name) !== undefined || isBuiltIn(name),
  );
}

/** Reports whether values of a type have one bit, and either bit is a value. */
function isOneBit(name: string, types: Types): boolean {
  if (name === 'uint1') return true;
  const own = types.get(name) ?? [];
  const [first] = own;
  if (first === undefined) return false;
  if (own.length === 2) return first.tag.length === 1 && own.every((source) => source.fields.length === 0);
  return own.length === 1 && first.tag === '' && first.fields.length === 1 && isOneBitNumber(first.fields[0]!);
}

function isOneBitNumber(field: Field): boolean {
  const term = field.kind === 'value' ? field.term : undefined;
  if (term?.kind !== 'apply' || term.name !== '##') return false;
  const [width] = term.args;
  return width?.kind === 'number' && width.value === 1;
}

/** Reports whether a field is a number that others refer to by its name. */
function isTold(field: Field, wanted: ReadonlySet<string>): boolean {
  if (field.kind === 'check' || field.name === undefined || !wanted.has(field.name)) return false;
  return field.term.kind === 'apply' && /^(##?|#<=?|uint\d+)$/.test(field.term.name);
}

/** Returns names that a field may refer to. Names of types are among them, but no field has such a name. */
function namesWanted(field: Field): readonly string[] {
  return field.kind === 'check' ? [field.name] : namesIn(field.term);
}

function namesIn(term: Term): readonly string[] {
  if (term.kind === 'apply') return [term.name, ...term.args.flatMap(namesIn)];
  if (term.kind === 'product') return [...namesIn(term.left), ...namesIn(term.right)];
  if (term.kind === 'ref') return namesIn(term.of);
  if (term.kind === 'group') return term.fields.flatMap(namesWanted);
  return term.kind === 'when' ? [term.name, ...namesIn(term.of)] : [];
}

/** Reports whether a reference is to a cell of any content. */
function isAnyCell(of: Term): boolean {
  return of.kind === 'apply' && (of.name === 'Cell' || of.name === 'Any');
}

type ReadField = (slice: ContractSlice, scope: OpenScope, budget: BodyBudget, target: ReadObject) => void;

/** Reads a field into the object around it. @param isNamed true if other fields refer to the value by its name */
function valueReader({ name = '', term }: Field & { kind: 'value' }, read: Read, isNamed: boolean): ReadField {
  if (term.kind === 'when') {
    return (slice, scope, budget, target) => {
      if (isThere(term, scope)) setValue(target, name, read(slice, scope, budget), budget);
    };
  }
  return (slice, scope, budget, target) => {
    const value = read(slice, scope, budget);
    setValue(target, name, value, budget);
    if (isNamed) scope[name] = Number(value);
  };
}

function isThere({ name, bit }: Term & { kind: 'when' }, scope: Scope): boolean {
  const number = Number(scope[name]);
  return bit === undefined ? number !== 0 : ((number >> bit) & 1) === 1;
}

/** Reads a value that fills a referenced cell. */
function refReader(read: Read): Read {
  return (slice, scope, budget) =>
    budget.inside(() => {
      const inside = slice.refSlice();
      const value = read(inside, scope, budget);
      if (!isEmpty(inside)) throw failed(inside, 'value of its type alone');
      return value;
    });
}

/** Reads a reference that is an argument of a type. */
function referenceReader(read: Read): Read {
  return (slice, scope, budget) => {
    const target: ReadObject = {};
    setValue(target, 'cell_reference', read(slice, scope, budget), budget);
    return target;
  };
}

function checkReader({ name, relation, value }: Field & { kind: 'check' }) {
  return (slice: ContractSlice, scope: OpenScope): void => {
    const found = Number(scope[name]);
    const holds = relation === '=' ? found === value : relation === '<=' ? found <= value : found >= value;
    if (!holds) throw new DecodeError('bad_value', `${name} is out of its range.`, { cell: slice.cell, found });
  };
}

/** Binds the constructor's parameters to the type's arguments; undefined when the arguments belong to another constructor. */
function bind(parameters: readonly Parameter[], values: readonly (number | Read)[]): Scope | undefined {
  if (parameters.length === 0) return NO_SCOPE;
  const scope: OpenScope = {};
  for (let at = 0; at < parameters.length; at++) {
    const parameter = parameters[at]!;
    const value = values[at]!;
    if (parameter.kind === 'exactly') {
      if (value !== parameter.value) return undefined;
    } else if (parameter.kind === 'successor') {
      if (typeof value !== 'number' || value < 1) return undefined;
      scope[parameter.name] = value - 1;
    } else {
      scope[parameter.name] = value;
    }
  }
  return scope;
}

function hasTag(slice: ContractSlice, { tagBits, tag }: Choice): boolean {
  return tagBits === 0 || (slice.remainingBits >= tagBits && slice.uintAhead(0, tagBits) === tag);
}
