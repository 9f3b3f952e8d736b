const MIB = 1024 * 1024;

/**
 * Bytes of each cache of v3 in a pod: 136 MiB together. Popular content fits: newest pages, and accounts of wallets and explorers. The
 * numbers of entries are those of mainnet.
 */
const cacheBytesMax = {
  /** Some 38,000 rendered transactions, packed. */
  transactions: 48 * MIB,
  /** Some 18,000 rendered messages, packed. */
  messages: 16 * MIB,
  /** Rendered traces, some 110: the popular ones among the newest and the busiest accounts. Unpacking them takes a third of an answer. */
  traces: 4 * MIB,
  /** Some 3,700 traces as Postgres stores them, which stores traces that end while it follows the head. */
  packedTraces: 24 * MIB,
  /** Names and interfaces of some 56,000 accounts. */
  accounts: 20 * MIB,
  /** Interfaces of some 10,000 codes: most accounts share a few hundred. */
  codes: 4 * MIB,
  /** Some 11,000 tokens with metadata of 300 letters, or 26,000 jetton wallets. */
  tokens: 12 * MIB,
  /** Some ten pages of 100 transactions, 600 KB each. A larger answer than an eighth is not cached. */
  answers: 8 * MIB,
} as const;

/** Bytes of each cache of v3 in a process. */
export type CacheBytes = Readonly<Record<keyof typeof cacheBytesMax, number>>;

/** Bytes of each cache. @param part of the usual bytes, above 0 to 1 */
export function cacheBytesOf(part = 1): CacheBytes {
  const bytes = Object.entries(cacheBytesMax).map(([kind, most]) => [kind, Math.ceil(most * part)]);
  return Object.fromEntries(bytes) as CacheBytes;
}

/** Memory of a process from which its caches have their usual bytes: they take at most a sixth. */
const MEMORY_OF_USUAL_CACHES = 1024 * MIB;

/** Part of the usual bytes for a process with so much memory. */
export function cachePartOf(memoryBytes: number): number {
  return Math.min(1, memoryBytes / MEMORY_OF_USUAL_CACHES);
}
