import type { ContractSlice } from '../cell-slice.ts';
import { readChunkedText, readSnake, takeText, walkDictionary } from '../contract-data.ts';
import { DecodeError } from '../errors.ts';
import { keyUint } from '../hashmap.ts';
import { readMessageAddress } from '../tlb/message-address.ts';
import { readAccountText, readAddressText } from './addresses.ts';
import { ExoticCell, RawCell, setValue, takeRef, takeRest } from './decoded.ts';
import type { BodyBudget, ReadObject, ReadValue } from './decoded.ts';
import type { Constructor, Field, Parameter, Term } from './scheme-line.ts';

/** Reads one value at the slice's position. Throws DecodeError for a malformed value. */
export type Read = (slice: ContractSlice, scope: Scope, budget: BodyBudget) => ReadValue;

/** Numbers read so far and arguments of the type, by name. */
export type Scope = { readonly [name: string]: number | Read };
type OpenScope = { [name: string]: number | Read };

type Choice = {
  readonly name: string;
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

const NO_SCOPE: Scope = {};
const NO_VALUES: readonly never[] = [];

function failed(slice: ContractSlice, type: string): DecodeError {
  return new DecodeError('bad_tag', `The cell is no ${type}.`, { cell: slice.cell, type });
}

/** Reports whether nothing is left to read. */
export function isEmpty(slice: ContractSlice): boolean {
  return slice.remainingBits === 0 && slice.remainingRefs === 0;
}

/** Reads a number of a fixed width as text. */
function uintText(slice: ContractSlice, bits: number): string {
  return bits <= 32 ? String(slice.uint(bits)) : slice.uintBig(bits).toString();
}

function bitsText(slice: ContractSlice, bits: number): string {
  return slice.bits(bits).toString('hex').toUpperCase();
}

const readExternal: Read = (slice) => {
  const address = readMessageAddress(slice);
  if (address?.kind === 'internal') throw failed(slice, 'MsgAddressExt');
  return address === undefined ? 'addr_none' : 'addr_extern';
};

/** Reads a text over a chain of cells. Bytes that are no UTF-8 become the replacement character. */
const readSnakeText: Read = (slice, _scope, budget) => {
  const bytes = readSnake(slice, { isStrict: true });
  if (bytes === undefined) {
    throw new DecodeError('bad_value', 'A text has whole bytes and one reference.', { cell: slice.cell });
  }
  return takeText(budget, bytes.toString('utf8'));
};

const PLAIN: Readonly<Record<string, Read>> = {
  Bool: (slice) => slice.bit(),
  Bit: (slice) => (slice.bit() ? '1' : '0'),
  '#': (slice) => uintText(slice, 32),
  Grams: (slice) => slice.coins().toString(),
  Coins: (slice) => slice.coins().toString(),
  MsgAddress: readAddressText,
  MsgAddressInt: readAccountText,
  MsgAddressExt: readExternal,
  Any: takeRest,
  Cell: takeRest,
  SnakeString: readSnakeText,
  Text: (slice, _scope, budget) => takeText(budget, readChunkedText(slice).toString('utf8')),
};

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
        name: source.name,
        tagBits: tag.length,
        tag: tag === '' ? 0 : Number.parseInt(tag, 2),
        parameters,
        read: constructorReader(source),
      });
    }
    return made;
  }

  function typeReader(name: string, args: readonly ((scope: Scope) => number | Read)[]): Read {
    const found = choicesOf(name);
    return (slice, scope, budget) => {
      budget.step();
      const values = args.length === 0 ? NO_VALUES : args.map((arg) => arg(scope));
      for (const choice of found) {
        const inner = bind(choice.parameters, values);
        if (inner === undefined || !hasTag(slice, choice)) continue;
        slice.skip(choice.tagBits);
        return choice.read(slice, inner, budget);
      }
      throw failed(slice, name);
    };
  }

  function constructorReader(source: Constructor): Read {
    const [only, more] = source.fields;
    // A constructor without a name around one value stands for that value.
    if (source.name === '_' && only?.kind === 'value' && more === undefined) return termReader(only.term);
    const read = fieldsReader(source.fields);
    const title = source.name === '_' ? source.type : source.name;
    return (slice, scope, budget) => {
      const target: ReadObject = { '@type': title };
      read(slice, scope, budget, target);
      return target;
    };
  }

  function fieldsReader(fields: readonly Field[]) {
    const wanted = new Set(fields.flatMap(namesWanted));
    const steps = fields.map((field) =>
      field.kind === 'check' ? checkReader(field) : valueReader(field, termReader(field.term), isTold(field, wanted)),
    );
    const tells = fields.some((field) => isTold(field, wanted));
    return (slice: ContractSlice, scope: Scope, budget: BodyBudget, target: ReadObject): void => {
      // Most constructors add no name to the scope.
      const inner = tells ? { ...scope } : scope;
      for (const step of steps) step(slice, inner, budget, target);
    };
  }

  function termReader(term: Term): Read {
    if (term.kind === 'ref') return isAnyCell(term.of) ? takeRef : refReader(termReader(term.of));
    if (term.kind === 'group') {
      const read = fieldsReader(term.fields);
      return (slice, scope, budget) => {
        const target: ReadObject = {};
        read(slice, scope, budget, target);
        return target;
      };
    }
    if (term.kind === 'when') {
      const read = termReader(term.of);
      return (slice, scope, budget) => {
        const number = Number(scope[term.name]);
        const there = term.bit === undefined ? number !== 0 : ((number >> term.bit) & 1) === 1;
        return there ? read(slice, scope, budget) : null;
      };
    }
    if (term.kind !== 'apply') throw new Error('A number stands where a type is wanted.');
    return applyReader(term.name, term.args);
  }

  function applyReader(name: string, args: readonly Term[]): Read {
    const plain = PLAIN[name] ?? fixedWidth(name);
    if (plain !== undefined) return plain;
    if (byType.has(name)) return typeReader(name, args.map(argument));
    const special = specialReader(name, args);
    if (special !== undefined) return special;
    // The other case is a parameter of the type around.
    return (slice, scope, budget) => {
      const bound = scope[name];
      if (typeof bound !== 'function') throw failed(slice, name);
      return bound(slice, NO_SCOPE, budget);
    };
  }

  function specialReader(name: string, args: readonly Term[]): Read | undefined {
    if (name === 'Maybe') return maybeReader(termReader(args[0]!));
    if (name === 'Either') {
      const [first, second] = [args[0]!, args[1]!];
      return eitherReader(termReader(first), termReader(second), isReferenceTo(second, first));
    }
    if (name === 'Hashmap' || name === 'HashmapE') {
      return hashmapReader(name, constant(args[0]!), termReader(args[1]!));
    }
    if (name === 'VarUInteger' || name === 'VarInteger') {
      const length = constant(args[0]!);
      if (name === 'VarUInteger') return (slice) => slice.varUint(length).toString();
      return (slice) => slice.intBig(8 * slice.uint(32 - Math.clz32(length - 1))).toString();
    }
    if (name === '##') {
      const bits = constant(args[0]!);
      return (slice) => uintText(slice, bits);
    }
    if (name !== 'bits') return undefined;
    const count = numberOf(args[0]!);
    return (slice, scope) => bitsText(slice, count(scope));
  }

  function argument(term: Term): (scope: Scope) => number | Read {
    if (term.kind === 'apply' && !PLAIN[term.name] && !byType.has(term.name) && term.args.length === 0) {
      if (fixedWidth(term.name) === undefined) return (scope) => scope[term.name]!;
    }
    if (term.kind === 'number') return () => term.value;
    const read = termReader(term);
    return (scope) => (slice, _scope, budget) => read(slice, scope, budget);
  }

  return {
    constructor: constructorReader,
    type: (name, args) =>
      typeReader(
        name,
        args.map((value) => () => value),
      ),
    constructorsOf: (name) => byType.get(name) ?? [],
  };
}

/** Reports whether a field is a number that others refer to by its name. */
function isTold(field: Field, wanted: ReadonlySet<string>): boolean {
  if (field.kind === 'check' || field.name === undefined || !wanted.has(field.name)) return false;
  return field.term.kind === 'apply' && /^(##|#|uint\d+)$/.test(field.term.name);
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

function isReferenceTo(term: Term, content: Term): boolean {
  return term.kind === 'ref' && JSON.stringify(term.of) === JSON.stringify(content);
}

/** @param isNamed true if other fields refer to the value by its name */
function valueReader({ name }: Field & { kind: 'value' }, read: Read, isNamed: boolean) {
  return (slice: ContractSlice, scope: OpenScope, budget: BodyBudget, target: ReadObject): void => {
    budget.step();
    const noted = budget.cells.length;
    const value = read(slice, scope, budget);
    if (name === undefined) merge(target, value, budget, noted);
    else setValue(target, name, value, budget);
    if (isNamed) scope[name!] = Number(value);
  };
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

/** @param hasSameContent true if both sides are the same type, in place or in a reference: the value then stands alone */
function eitherReader(readFirst: Read, readSecond: Read, hasSameContent: boolean): Read {
  return (slice, scope, budget) => {
    const isSecond = slice.bit();
    const value = (isSecond ? readSecond : readFirst)(slice, scope, budget);
    if (hasSameContent) return value;
    const chosen: ReadObject = { '@type': isSecond ? 'second_from_either' : 'first_from_either' };
    setValue(chosen, 'value', value, budget);
    return chosen;
  };
}

/** @param bits width of a key */
function hashmapReader(kind: 'Hashmap' | 'HashmapE', bits: number, read: Read): Read {
  return (slice, scope, budget) => {
    const entries: ReadObject = {};
    if (kind === 'HashmapE' && !slice.bit()) return entries;
    const visit = (key: Buffer, value: ContractSlice): void => {
      setValue(entries, keyText(key, bits), read(value, scope, budget), budget);
      if (!isEmpty(value)) throw failed(value, 'value of its type alone');
    };
    return budget.inside(() => {
      walkDictionary(kind === 'HashmapE' ? slice.refSlice() : slice, bits, visit);
      // A dictionary that is a value of its own is all that is left of its cell.
      if (kind === 'Hashmap') takeRest(slice);
      return entries;
    });
  };
}

function maybeReader(read: Read): Read {
  return (slice, scope, budget) => (slice.bit() ? read(slice, scope, budget) : null);
}

function checkReader({ name, relation, value }: Field & { kind: 'check' }) {
  return (slice: ContractSlice, scope: OpenScope): void => {
    const found = Number(scope[name]);
    const holds = relation === '=' ? found === value : relation === '<=' ? found <= value : found >= value;
    if (!holds) throw new DecodeError('bad_value', `${name} is out of its range.`, { cell: slice.cell, found });
  };
}

/** `uint64`, `int8`, `bits256`. */
function fixedWidth(name: string): Read | undefined {
  const match = /^(uint|int|bits)(\d+)$/.exec(name);
  if (match === null) return undefined;
  const bits = Number(match[2]);
  if (match[1] === 'uint') return (slice) => uintText(slice, bits);
  if (match[1] === 'int') return (slice) => slice.intBig(bits).toString();
  return (slice) => bitsText(slice, bits);
}

function constant(term: Term): number {
  if (term.kind !== 'number') throw new Error('A width is wanted.');
  return term.value;
}

function numberOf(term: Term): (scope: Scope) => number {
  if (term.kind === 'number') return () => term.value;
  if (term.kind === 'apply') return (scope) => Number(scope[term.name]);
  if (term.kind !== 'product') throw new Error('A number is wanted.');
  const left = numberOf(term.left);
  const right = numberOf(term.right);
  return (scope) => left(scope) * right(scope);
}

/** Binds the constructor's parameters to the type's arguments; undefined when the arguments belong to another constructor. */
function bind(parameters: readonly Parameter[], values: readonly (number | Read)[]): Scope | undefined {
  if (parameters.length === 0) return NO_SCOPE;
  const scope: OpenScope = {};
  for (const [position, parameter] of parameters.entries()) {
    const value = values[position]!;
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

/** Merges a value without a name: its fields belong to the object around it. @param noted cells before it was read */
function merge(target: ReadObject, value: ReadValue, budget: BodyBudget, noted: number): void {
  if (typeof value !== 'object' || value === null || value instanceof RawCell || value instanceof ExoticCell) {
    setValue(target, 'value', value, budget);
    return;
  }
  for (const [name, inner] of Object.entries(value)) if (name !== '@type') target[name] = inner;
  for (let at = noted; at < budget.cells.length; at++) {
    const place = budget.cells[at]!;
    if (place.of === value) place.of = target;
  }
}

/** Formats a key. Keys of up to 64 bits are numbers, longer ones hashes and addresses. */
function keyText(key: Buffer, bits: number): string {
  if (bits > 64) return key.toString('hex').toUpperCase();
  if (bits <= 32) return keyUint(key, bits).toString();
  return (BigInt(`0x${key.toString('hex')}`) >> BigInt(key.length * 8 - bits)).toString();
}
