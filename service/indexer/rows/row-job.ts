import type { PackedBlocks } from './packed-blocks.ts';

/** Work of a thread. */
export type RowJob = { readonly id: number; readonly blocks: PackedBlocks };

/** What came of it: packed rows, or why there are none. */
export type RowResult =
  | { readonly id: number; readonly rows: Uint8Array }
  | { readonly id: number; readonly error: string };
