// Decoded bodies as readers know their values: numbers, addresses and texts in place of the objects of TL-B constructors.

type Fields = Readonly<Record<string, unknown>>;

/** Constructors around one value, and the name of that value. */
const AROUND: Readonly<Record<string, string>> = {
  var_uint: 'value',
  var_int: 'value',
  nanograms: 'amount',
  nanocoins: 'amount',
  something_from_maybe: 'value',
  first_from_either: 'value',
  second_from_either: 'value',
};

/** Returns a decoded body without the constructors of numbers, addresses, optional values, dictionaries and texts. */
export function foldBody(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const type = fields['@type'];
  if (typeof type !== 'string')
    return 'cell_reference' in fields ? foldBody(fields['cell_reference']) : foldFields(fields);
  const inner = AROUND[type];
  if (inner !== undefined) return foldBody(fields[inner]);
  if (type === 'nothing_from_maybe') return null;
  if (type === 'addr_none') return 'addr_none';
  if (type === 'addr_std' && foldBody(fields['anycast']) === null)
    return `${textOf(fields['workchain_id'])}:${textOf(fields['address'])}`;
  if (type === 'hashmap_empty') return {};
  if (type === 'hashmap_root') return Object.fromEntries(entriesOf(fields['root'] as Fields, ''));
  if (type === 'hashmap_edge') return Object.fromEntries(entriesOf(fields, ''));
  if (type === 'text') return new TextDecoder().decode(Uint8Array.from(chunksOf(fields['rest'] as Fields)));
  return foldFields(fields);
}

/** The fields of a field without a name belong to the object around it. */
function foldFields(fields: Fields): Fields {
  const folded = Object.entries(fields).flatMap(([name, value]) => {
    const shown = foldBody(value);
    if (name !== '') return [[name, shown]];
    if (typeof shown !== 'object' || shown === null) return [['value', shown]];
    return Object.entries(shown).filter(([own]) => own !== '@type');
  });
  return Object.fromEntries(folded) as Fields;
}

/** Entries below an edge of a dictionary, by keys: numbers up to 64 bits, else hex. @param before bits of the key so far */
function entriesOf({ label, node }: Fields, before: string): [string, unknown][] {
  const key = before + labelBits(label as Fields);
  const { left, right, value } = node as Fields;
  if (left === undefined) return [[keyText(key), foldBody(value)]];
  return [...entriesOf(left as Fields, `${key}0`), ...entriesOf(right as Fields, `${key}1`)];
}

function labelBits({ v, n, s }: Fields): string {
  if (typeof v === 'boolean') return (v ? '1' : '0').repeat(Number(n));
  const text = textOf(s);
  const bits = (text.match(/[0-9A-F]/g) ?? [])
    .map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0'))
    .join('');
  return text.endsWith('_') ? bits.slice(0, bits.lastIndexOf('1')) : bits;
}

function keyText(bits: string): string {
  const number = BigInt(`0b${bits}`);
  if (bits.length <= 64) return number.toString();
  const width = Math.ceil(bits.length / 8) * 8;
  return BigInt.asUintN(width, number << BigInt(width - bits.length))
    .toString(16)
    .toUpperCase()
    .padStart(width / 4, '0');
}

function chunksOf({ data, next }: Fields): readonly number[] {
  if (data === undefined) return [];
  const bytes = (textOf(data).match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  const { ref } = next as Fields;
  return ref === undefined ? bytes : [...bytes, ...chunksOf(ref as Fields)];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
