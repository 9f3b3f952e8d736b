/** Settings of the TVM. */
export type TvmOptions = {
  /** Threads that run calls; one takes some 50 MB and a core while it works. */
  readonly workers?: number;
  /** Calls that may wait: at 1 ms each, half a second of work. */
  readonly queueMax?: number;
  /** Gas of a get-method that names no limit: what the reference client's library gives. */
  readonly gasLimit?: number;
  /** Longest run of one call; a million gas takes up to half a second. */
  readonly wallTimeMs?: number;
  /** A thread whose emulator's memory grew beyond this is replaced, as it never shrinks. */
  readonly memoryBytesMax?: number;
  /** Fetched libraries kept. */
  readonly libraryBytesMax?: number;
  /** The thread's module; another place when the service is bundled. */
  readonly workerUrl?: URL;
};

export const TVM_DEFAULTS = {
  workers: 1,
  queueMax: 512,
  gasLimit: 1_000_000,
  wallTimeMs: 2000,
  memoryBytesMax: 256 * 1024 * 1024,
  libraryBytesMax: 16 * 1024 * 1024,
} as const satisfies TvmOptions;
