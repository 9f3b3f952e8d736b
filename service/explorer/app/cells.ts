/** A cell of an answer of the API. */
export type Cell = {
  readonly bits: Uint8Array;
  readonly bitLength: number;
  readonly refs: readonly Cell[];
  readonly isExotic: boolean;
};

/** Cells of one bag: the configuration of mainnet has some 2,000. */
const CELLS_MAX = 50_000;

/** Reads the first root of a bag of cells. @throws Error for a text that is no bag, or a bag of too many cells */
export function parseBoc(base64: string): Cell {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  let at = 0;
  const uint = (size: number): number => {
    let value = 0;
    for (let count = 0; count < size; count++) value = value * 256 + byte();
    return value;
  };
  const byte = (): number => {
    const value = bytes[at++];
    if (value === undefined) throw new Error('the bag of cells ends too early');
    return value;
  };
  if (uint(4) !== 0xb5ee9c72) throw new Error('no bag of cells');
  const flags = byte();
  const size = flags & 7;
  const offsetSize = byte();
  const count = uint(size);
  const roots = uint(size);
  uint(size);
  uint(offsetSize);
  if (count > CELLS_MAX || roots < 1) throw new Error('the bag has too many cells, or none');
  const root = uint(size);
  at += (roots - 1) * size + ((flags & 0x80) === 0 ? 0 : count * offsetSize);
  const plain = Array.from({ length: count }, () => readCell(byte, () => uint(size)));
  return link(plain, root);
}

type PlainCell = Omit<Cell, 'refs'> & { readonly refs: readonly number[] };

function readCell(byte: () => number, index: () => number): PlainCell {
  const head = byte();
  const length = byte();
  // A cell with its hashes inside has them before its data.
  if ((head & 0x10) !== 0) throw new Error('cells with stored hashes are not read');
  const bits = Uint8Array.from({ length: Math.ceil(length / 2) }, byte);
  let bitLength = bits.length * 8;
  if (length % 2 === 1) {
    const last = bits.at(-1) ?? 0;
    if (last === 0) throw new Error('a cell without its completion bit');
    bitLength -= Math.log2(last & -last) + 1;
  }
  const refs = Array.from({ length: Math.min(head & 7, 4) }, index);
  return { bits, bitLength, refs, isExotic: (head & 8) !== 0 };
}

/** A reference points to a later cell. */
function link(plain: readonly PlainCell[], root: number): Cell {
  const linked: Cell[] = [];
  for (let at = plain.length - 1; at >= 0; at--) {
    const { refs, ...own } = plain[at]!;
    linked[at] = {
      ...own,
      refs: refs.map((ref) => {
        const cell = ref > at ? linked[ref] : undefined;
        if (cell === undefined) throw new Error('a reference of the bag points to no later cell');
        return cell;
      }),
    };
  }
  const found = linked[root];
  if (found === undefined) throw new Error('the bag has no root');
  return found;
}

/** A bag of one cell without references. */
export function writeBoc(bits: Uint8Array, bitLength: number): string {
  const data = new Uint8Array(Math.ceil(bitLength / 8));
  data.set(bits.subarray(0, data.length));
  const rest = bitLength % 8;
  if (rest > 0) data[data.length - 1] = ((data.at(-1)! >> (8 - rest)) << (8 - rest)) | (1 << (7 - rest));
  const cell = [0, Math.floor(bitLength / 8) + Math.ceil(bitLength / 8), ...data];
  return btoa(String.fromCharCode(0xb5, 0xee, 0x9c, 0x72, 1, 1, 1, 1, 0, cell.length, 0, ...cell));
}

/** Reads a cell from its first bit. Every read throws beyond the end. */
export type Reader = {
  readonly bitsLeft: () => number;
  readonly refsLeft: () => number;
  readonly uint: (bits: number) => bigint;
  readonly int: (bits: number) => bigint;
  readonly bit: () => boolean;
  /** Hexadecimal digits; the last digit has zeros behind the end. */
  readonly hex: (bits: number) => string;
  readonly coins: () => bigint;
  readonly ref: () => Cell;
};

export function readerOf({ bits, bitLength, refs }: Cell): Reader {
  let at = 0;
  let nextRef = 0;
  const uint = (count: number): bigint => {
    if (count > bitLength - at) throw new Error('the cell has too few bits');
    let value = 0n;
    for (const end = at + count; at < end; at++) {
      value = (value << 1n) | BigInt(((bits[at >> 3] ?? 0) >> (7 - (at & 7))) & 1);
    }
    return value;
  };
  return {
    bitsLeft: () => bitLength - at,
    refsLeft: () => refs.length - nextRef,
    uint,
    int: (count) => BigInt.asIntN(count, uint(count)),
    bit: () => uint(1) === 1n,
    hex: (count) => {
      const digits = Math.ceil(count / 4);
      const value = uint(count) << BigInt(digits * 4 - count);
      return digits === 0 ? '' : value.toString(16).padStart(digits, '0');
    },
    coins: () => uint(8 * Number(uint(4))),
    ref: () => {
      const cell = refs[nextRef++];
      if (cell === undefined) throw new Error('the cell has too few references');
      return cell;
    },
  };
}

/** Entries of one dictionary that are read. */
const ENTRIES_MAX = 10_000;

/** Entries of a dictionary by key, in order. @param root cell of the first edge */
export function readDictionary(root: Cell, keyBits: number): readonly (readonly [key: bigint, value: Reader])[] {
  const entries: (readonly [bigint, Reader])[] = [];
  const open: { readonly cell: Cell; readonly key: bigint; readonly left: number }[] = [
    { cell: root, key: 0n, left: keyBits },
  ];
  for (let edge = open.pop(); edge !== undefined && entries.length < ENTRIES_MAX; edge = open.pop()) {
    const reader = readerOf(edge.cell);
    const [label, length] = readLabel(reader, edge.left);
    const key = (edge.key << BigInt(length)) | label;
    const left = edge.left - length;
    if (left < 0) throw new Error('a key of the dictionary is too long');
    if (left === 0) {
      entries.push([key, reader]);
      continue;
    }
    const zero = reader.ref();
    open.push({ cell: reader.ref(), key: (key << 1n) | 1n, left: left - 1 });
    open.push({ cell: zero, key: key << 1n, left: left - 1 });
  }
  return entries;
}

function readLabel(reader: Reader, max: number): readonly [label: bigint, length: number] {
  const lengthBits = max === 0 ? 0 : 32 - Math.clz32(max);
  if (!reader.bit()) {
    let length = 0;
    while (reader.bit()) length++;
    return [reader.uint(length), length];
  }
  if (!reader.bit()) {
    const length = Number(reader.uint(lengthBits));
    return [reader.uint(length), length];
  }
  const bit = reader.bit();
  const length = Number(reader.uint(lengthBits));
  return [bit ? (1n << BigInt(length)) - 1n : 0n, length];
}
