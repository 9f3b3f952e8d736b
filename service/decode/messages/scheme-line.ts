/** TL-B constructor as data: `name#tag {n:#} field:(Type arg) { field <= 3 } = Result n`, without the semicolon. */
export type Constructor = {
  /** `_` when it has none. */
  readonly name: string;
  /** Bits before the fields, as text of 0 and 1. */
  readonly tag: string;
  readonly fields: readonly Field[];
  /** Type of the constructor; empty for a constructor of a group. */
  readonly type: string;
  readonly parameters: readonly Parameter[];
};

/** Parameter of a result type: a number, a type, a fixed number, or a number above zero less one. */
export type Parameter =
  | { readonly kind: 'number' | 'type' | 'successor'; readonly name: string }
  | { readonly kind: 'exactly'; readonly value: number };

export type Field =
  | { readonly kind: 'value'; readonly name: string | undefined; readonly term: Term }
  | { readonly kind: 'check'; readonly name: string; readonly relation: Relation; readonly value: number };

export type Relation = '=' | '<=' | '>=';

export type Term =
  | { readonly kind: 'apply'; readonly name: string; readonly args: readonly Term[] }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'product'; readonly left: Term; readonly right: Term }
  | { readonly kind: 'ref'; readonly of: Term }
  | { readonly kind: 'group'; readonly fields: readonly Field[] }
  /** Field that is present only when the number `name`, or its bit, is not zero. */
  | { readonly kind: 'when'; readonly name: string; readonly bit: number | undefined; readonly of: Term };

/** Reads one line. Throws Error for a malformed line: the lines come from this project, not from a caller. */
export function readConstructor(line: string): Constructor {
  const head = /^(\w+)(#_|\$_|#[0-9a-f]+|\$[01]+)?(?= |$)/.exec(line);
  if (head === null) throw new Error(`No constructor: ${line}`);
  const tokens = line.slice(head[0].length).match(/#<=?|##|<=|>=|[\^[\](){}:?.*+=#]|\w+/g) ?? [];
  const reader = createReader(tokens, line);
  const types = new Set<string>();
  const fields = reader.fields('=', types);
  const [result, ...args] = reader.rest();
  return {
    name: head[1]!,
    tag: tagBits(head[2] ?? ''),
    fields,
    type: result?.kind === 'apply' ? result.name : '',
    parameters: args.map((term) => parameterOf(term, types, line)),
  };
}

function tagBits(text: string): string {
  if (text === '' || text.endsWith('_')) return '';
  if (text.startsWith('$')) return text.slice(1);
  const digits = text.slice(1);
  return BigInt(`0x${digits}`)
    .toString(2)
    .padStart(digits.length * 4, '0');
}

function parameterOf(term: Term, types: ReadonlySet<string>, line: string): Parameter {
  if (term.kind === 'number') return { kind: 'exactly', value: term.value };
  if (term.kind !== 'apply') throw new Error(`No parameter: ${line}`);
  if (term.args.length > 0) return { kind: 'successor', name: term.name };
  return { kind: types.has(term.name) ? 'type' : 'number', name: term.name };
}

function createReader(tokens: readonly string[], line: string) {
  let at = 0;

  function next(wanted?: string): string {
    const token = tokens[at++];
    if (token === undefined || (wanted !== undefined && token !== wanted)) {
      throw new Error(`Wanted ${wanted ?? 'more'} at token ${at} of: ${line}`);
    }
    return token;
  }

  /** Reads fields up to `end`, which is read too if present. Names of type parameters go into `types`. */
  function fields(end: string, types: Set<string>): Field[] {
    const found: Field[] = [];
    while (at < tokens.length && tokens[at] !== end) {
      const field = oneField(types);
      if (field !== undefined) found.push(field);
    }
    if (at < tokens.length) next(end);
    return found;
  }

  function oneField(types: Set<string>): Field | undefined {
    if (tokens[at] === '^') return { kind: 'value', name: undefined, term: atom(types) };
    if (tokens[at] !== '{') {
      const name = next();
      next(':');
      return { kind: 'value', name: name === '_' ? undefined : name, term: fieldTerm(types) };
    }
    next('{');
    const name = next();
    const relation = next();
    const bound = next();
    next('}');
    if (relation !== ':') return { kind: 'check', name, relation: relation as Relation, value: Number(bound) };
    if (bound === 'Type') types.add(name);
    return undefined;
  }

  function fieldTerm(types: Set<string>): Term {
    const bit = tokens[at + 1] === '.' ? Number(tokens[at + 2]) : undefined;
    if (tokens[at + (bit === undefined ? 1 : 3)] !== '?') return atom(types);
    const name = next();
    at += bit === undefined ? 1 : 3;
    return { kind: 'when', name, bit, of: atom(types) };
  }

  function atom(types: Set<string>): Term {
    const token = next();
    if (token === '^') return { kind: 'ref', of: atom(types) };
    if (token === '[') return { kind: 'group', fields: fields(']', types) };
    if (token === '(') {
      const inside = expression(types);
      next(')');
      return inside;
    }
    return /^\d+$/.test(token) ? { kind: 'number', value: Number(token) } : { kind: 'apply', name: token, args: [] };
  }

  /** Reads `a * b`, `n + 1` (represented as an application of n) or `Type arg ...`. */
  function expression(types: Set<string>): Term {
    const first = atom(types);
    if (tokens[at] === '*') {
      next('*');
      return { kind: 'product', left: first, right: atom(types) };
    }
    if (first.kind !== 'apply') return first;
    if (tokens[at] === '+') next('+');
    const args: Term[] = [];
    while (at < tokens.length && tokens[at] !== ')') args.push(atom(types));
    return args.length === 0 ? first : { kind: 'apply', name: first.name, args };
  }

  function rest(): Term[] {
    const found: Term[] = [];
    while (at < tokens.length) found.push(atom(new Set()));
    return found;
  }

  return { fields, rest };
}
