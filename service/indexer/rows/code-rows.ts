import { methodIds } from '#service/decode/method-ids.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { CodeRow } from '#service/store/tables.ts';
import type { BlockReader } from './block-reader.ts';

type CodeBlock = Pick<BlockReader, 'table' | 'writeBoc'>;

/** Gathers code, each once by its hash. */
export type CodeRows = {
  readonly rows: readonly CodeRow[];
  /** Adds code; code that is pruned, in part or all, is skipped. */
  add(block: CodeBlock, code: number): void;
};

export function createCodeRows(): CodeRows {
  const rows: CodeRow[] = [];
  const seen = new Set<string>();
  return {
    rows,
    add({ table, writeBoc }, code) {
      if (table.levelMask(code) !== 0) return;
      const hash = table.hash(code);
      const key = hashKey(hash);
      if (seen.has(key)) return;
      seen.add(key);
      rows.push({ code_hash: hash, boc: writeBoc(code), methods: methodIds(table, code) });
    },
  };
}
