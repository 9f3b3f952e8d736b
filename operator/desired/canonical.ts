import { createHash } from 'node:crypto';

/** JSON with sorted field names and without absent fields: the same text for equal values, however they were put together. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** First 16 hex digits of the SHA-256 of the canonical JSON. An object has few versions, so 64 bits distinguish them. */
export function contentHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(value).toSorted()) fields[name] = sorted((value as Record<string, unknown>)[name]);
  return fields;
}
