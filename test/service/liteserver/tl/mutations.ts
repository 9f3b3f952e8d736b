import { forgeBit, forgePruned, flipBit, pruneOne, relayout } from '#test/service/proof/mutations.ts';
import type { TlNode } from './tree.ts';
import { nodesOf, readTree, writeTree } from './tree.ts';

/** Numbers in [0, n). */
type Random = (n: number) => number;

/** Parts of answers by node type, from which lies are made. */
export type Donors = ReadonlyMap<string, readonly TlNode[]>;

/** Returns parts of true answers, by the type of the part. */
export function donorsOf(answers: readonly Buffer[]): Donors {
  return Map.groupBy(
    answers.flatMap((answer) => nodesOf(readTree(answer))),
    typeOf,
  );
}

function typeOf(node: TlNode): string {
  return node.kind === 'record' ? node.type : node.kind === 'vector' ? `vector ${node.element}` : node.kind;
}

/** Makes lies of a true answer: other bytes that parse as the same TL type. */
export type Liar = { readonly lie: (random: Random) => { readonly answer: Buffer; readonly what: string } };

/** @param answer boxed */
export function createLiar(answer: Buffer, donors: Donors): Liar {
  const tree = readTree(answer);
  const nodes = nodesOf(tree);

  return {
    lie(random) {
      // Some lies need two changes that fit each other.
      const lies = Array.from({ length: random(8) === 0 ? 2 : 1 }, () => nodes[random(nodes.length)]!);
      const before = lies.map((node) => node.value);
      for (const node of lies) node.value = change(node, donors, random);
      const lie = writeTree(tree);
      const what = lies.map((node) => `${typeOf(node)} -> ${shown(node.value)}`).join(', ');
      lies.toReversed().forEach((node, index) => (node.value = before.at(-1 - index)!));
      return { answer: lie, what };
    },
  };
}

function shown(value: TlNode['value']): string {
  if (Buffer.isBuffer(value)) return `${value.length} bytes ${value.toString('hex', 0, 8)}`;
  return typeof value === 'object' ? 'another one' : String(value);
}

/** Changes a node's value. The result has the type of its kind: the caller puts it where it came from. */
function change(node: TlNode, donors: Donors, random: Random): never {
  return changed(node, donors, random) as never;
}

function changed(node: TlNode, donors: Donors, random: Random): TlNode['value'] {
  if (random(5) === 0) return pick(donors.get(typeOf(node)) ?? [node], random).value;
  switch (node.kind) {
    case 'int':
      return changeInt(node.value, random);
    case 'long':
      return changeLong(node.value, random);
    case 'bool':
      return !node.value;
    case 'int256':
      return pick([flipBit(node.value, random(256)), Buffer.alloc(32), Buffer.alloc(32, 255)], random);
    case 'bytes':
      return changeBytes(node.value, random);
    case 'vector':
      return changeList(node.value, random);
    case 'record':
      return pick(donors.get(node.type) ?? [node], random).value;
    default:
      return node satisfies never;
  }
}

/** Returns edges of signed and unsigned 32 bits, neighbours, and single bits. */
function changeInt(value: number, random: Random): number {
  const edges = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), -(2 ** 31) + 1, value + 1, value - 1, -value, 2 ** 16];
  return (random(3) === 0 ? value ^ (1 << random(32)) : pick(edges, random)) >>> 0;
}

function changeLong(value: bigint, random: Random): bigint {
  const edges = [0n, 1n, -1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 62n, 2n ** 63n + 1n, value + 1n, value - 1n, -value];
  return BigInt.asUintN(64, random(3) === 0 ? value ^ (1n << BigInt(random(64))) : pick(edges, random));
}

/** Rarity of huge answers. A usual answer has some kilobytes; a huge one costs a thousand times that. */
const HUGE_ONE_IN = 2_000;
const HUGE_BYTES = 2 ** 20;

const BOC_MAGIC = 0xb5ee9c72;

function changeBytes(bytes: Buffer, random: Random): Buffer {
  const isBag = bytes.length >= 4 && bytes.readUInt32BE(0) === BOC_MAGIC;
  const bagged = (forge: Forge): Buffer => (isBag ? forged(forge, bytes, random) : undefined) ?? flipAny(bytes, random);
  if (random(HUGE_ONE_IN) === 0) return Buffer.concat([bytes, Buffer.alloc(HUGE_BYTES, random(256))]);
  switch (random(12)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return Buffer.alloc(1 + random(300), random(256));
    case 2:
      return bytes.subarray(0, random(bytes.length + 1));
    case 3:
      return Buffer.concat([bytes, Buffer.alloc(1 + random(8))]);
    case 4:
      return Buffer.concat([bytes, bytes]);
    case 5:
    case 6:
      return bagged(forgeBit);
    case 7:
      return bagged(forgePruned);
    case 8:
      return bagged(pruneOne);
    case 9:
      return bagged(relayout);
    default:
      return flipAny(bytes, random);
  }
}

type Forge = (bag: Buffer, random: Random) => Buffer | undefined;

/** Forges a bag. A bag that was changed before cannot be read any more. */
function forged(forge: Forge, bag: Buffer, random: Random): Buffer | undefined {
  try {
    return forge(bag, random);
  } catch {
    return undefined;
  }
}

function flipAny(bytes: Buffer, random: Random): Buffer {
  return bytes.length === 0 ? Buffer.of(random(256)) : flipBit(bytes, random(bytes.length * 8));
}

/** Most repeats, which a check must bound itself. */
const REPEATS_MAX = 300;

function changeList(items: readonly TlNode[], random: Random): TlNode[] {
  const copy = [...items];
  const index = random(items.length + 1);
  switch (random(6)) {
    case 0:
      return [];
    case 1:
      return copy.toReversed();
    case 2:
      return copy.slice(0, index);
    case 3:
      return copy.flatMap((item, at) =>
        at === index ? Array.from({ length: random(REPEATS_MAX) }, () => item) : [item],
      );
    case 4:
      return copy.filter((_, at) => at !== index);
    default:
      return copy.flatMap((item, at) => (at === index ? [item, item] : [item]));
  }
}

function pick<T>(items: readonly T[], random: Random): T {
  return items[random(items.length)]!;
}
