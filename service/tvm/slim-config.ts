import type { Boc } from '../decode/boc.ts';
import { writeBoc } from '../decode/boc-writer.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { lookupHashmap, uintKey } from '../decode/hashmap.ts';

/**
 * Validator sets (previous, current and next, each with its temporary set). They are nine tenths of the configuration's bytes, and the emulator reads
 * all of it at every get-method.
 */
const VALIDATOR_SETS = [32, 33, 34, 35, 36, 37];

/**
 * Returns the configuration with an empty cell in place of each validator set. The rest, which is all that the VM itself reads, stays. A contract
 * that reads the configuration would see the difference; `readsWorld` reports whether it did.
 * @param config bag of cells of the dictionary (`Hashmap 32 ^Cell`)
 */
export function slimConfig(config: Boc): Buffer {
  const root = config.roots[0]!;
  const leaves = new Set(VALIDATOR_SETS.map((param) => lookupHashmap(config, root, 32, uintKey(param, 32))?.cell));
  const store = createCellStore();
  const empty = store.add({ data: Buffer.alloc(0), bitLength: 0, refs: [] });
  const copied = new Map<number, number>();
  const copy = (cell: number): number => {
    const known = copied.get(cell);
    if (known !== undefined) return known;
    const refs: number[] = [];
    for (let at = 0; at < config.refCount(cell); at++) refs.push(leaves.has(cell) ? empty : copy(config.ref(cell, at)));
    const placed = store.addLike(config, cell, refs);
    copied.set(cell, placed);
    return placed;
  };
  return writeBoc(store, [copy(root)], { crc32c: true });
}

/**
 * Instructions that give a contract the configuration or earlier blocks. They read parameters, the dictionary, or their tuple in c7. The VM logs
 * every instruction before it runs it.
 */
const WORLD_INSTRUCTIONS = [
  'execute CONFIG',
  'execute GETPARAM 9',
  'execute GETPARAM 13',
  'execute PREV',
  'execute GETPARAMLONG',
  'execute GETGLOBVAR',
  'execute PUSH c7',
  'execute PUSHCTRX',
];

/** Reports whether a run may have read the configuration or the earlier blocks. */
export function readsWorld(vmLog: string): boolean {
  return WORLD_INSTRUCTIONS.some((instruction) => vmLog.includes(instruction));
}
