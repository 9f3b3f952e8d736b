import { BitWriter } from '../bit-writer.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { storeBody } from './message.ts';
import type { MessageBody, MessageInit } from './message.ts';
import { writeStateInit } from './state-init.ts';

/** Cell and its table. */
export type CellAt = { readonly table: CellTable; readonly cell: number };

/** Returns a message's body as a cell of its own, whichever way the message stores it. @param store receives a cell that has to be made */
export function bodyCell(store: CellStore, table: CellTable, body: MessageBody): CellAt {
  const isApart = body.skipBits === 0 && body.skipRefs === 0;
  return isApart ? { table, cell: body.cell } : { table: store, cell: storeBody(store, table, body) };
}

/** Returns the state that a message deploys, as a cell of its own. @param store receives a cell that has to be made */
export function initCell(store: CellStore, table: CellTable, init: MessageInit): CellAt {
  if (init.cell !== undefined) return { table, cell: init.cell };
  const { state } = init;
  const move = (part: number | undefined): number | undefined =>
    part === undefined ? undefined : store.import(table, part);
  const { code, data, libraries } = state;
  const moved = { ...state, code: move(code), data: move(data), libraries: move(libraries) };
  return { table: store, cell: writeStateInit(new BitWriter(), moved).finish(store) };
}
