import { WHOLE_BLOCK, type Position } from '../changes.ts';

// A change of a block makes several events for a connection. A cursor may point between them: its index is that of the change times
// `STEPS`, plus a step. So 24 bits number the changes of a block.

const STEPS = 256;

/** Steps of one change, in the order of its events. The first part of transactions has step 2, the next 3. */
export const steps = { before: 0, unmatched: 1, part: 2, partsEnd: 253, actions: 254, last: 255 } as const;

/** Position behind one event of a change. */
export function positionOf({ mcSeqno, index }: Position, step: number): Position {
  return { mcSeqno, index: Math.min(index * STEPS + step, WHOLE_BLOCK) };
}

/** Position behind all changes of a block. */
export function endOf(mcSeqno: number): Position {
  return { mcSeqno, index: WHOLE_BLOCK };
}

/** Reports whether an event at a position comes after another position. Every position is after null. */
export function isAfter(one: Position, other: Position | null): boolean {
  if (other === null) return true;
  return one.mcSeqno === other.mcSeqno ? one.index > other.index : one.mcSeqno > other.mcSeqno;
}

/** Reports whether a position is another one or before that. Null is before every position. */
export function isUpTo(one: Position | null, other: Position): boolean {
  return one === null || !isAfter(one, other);
}

/** The later of two positions. */
export function laterOf(one: Position | null, other: Position | null): Position | null {
  return one !== null && isAfter(one, other) ? one : other;
}

/** Mark behind one event of a record of the log of levels (levels-log.ts). Marks rise with the order of the log: 48 bits. */
export function markOf(record: number, step: number): number {
  return record * STEPS + step;
}

/**
 * Number of the block of a final event, and below zero of the record of another event. Null for an event of neither.
 * @param mark of the event
 */
export function batchOf(position: Position | null, mark: number | null): number | null {
  if (position !== null) return position.mcSeqno;
  return mark === null ? null : -1 - Math.floor(mark / STEPS);
}

/** Newest record whose events are all behind a mark. */
export function lastWhole(mark: number): number {
  return Math.floor((mark + 1) / STEPS) - 1;
}
