import type { Conditions } from './conditions.ts';
import type { StoreReader } from './reader.ts';

// Unix seconds are unsigned, and columns have their signed view: seconds from 2^31 on, January 2038, are negative there.

/** Reader's part that decides how its queries compare times. */
export type TimeReader = Pick<StoreReader, 'passes2038'>;

/** SQL of a column of Unix seconds, as unsigned. No index has it. */
export function unsignedTime(column: string): string {
  return `(${column}::bigint & 4294967295)`;
}

/** SQL of a column of Unix seconds for comparisons and orders: the column itself, which indexes have, until 2038. */
export function timeOf(column: string, { passes2038 = false }: TimeReader): string {
  return passes2038 ? unsignedTime(column) : column;
}

/** Unix seconds, inclusive at both ends. A bound may be beyond 32 bits. */
export type TimeWindow = { readonly startUtime?: number | undefined; readonly endUtime?: number | undefined };

/** Adds the conditions of a window on a column of Unix seconds. */
export function addTimes(conditions: Conditions, column: string, window: TimeWindow, reader: TimeReader): void {
  const time = timeOf(column, reader);
  conditions.when(window.startUtime, (at) => `${time} >= ${at}::bigint`);
  conditions.when(window.endUtime, (at) => `${time} <= ${at}::bigint`);
}
