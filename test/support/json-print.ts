import { createHash } from 'node:crypto';

/** A short name of a JSON value, the same for equal values with their fields in the same order. */
export function printOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}
