/** Settings of the TVM. */
export type TvmOptions = {
  /** Number of threads that run calls, see `workersFor`. With 1, long runs block short runs. */
  readonly workers?: number;
  /** Most waiting calls: at 1 ms each, half a second of work. */
  readonly queueMax?: number;
  /** Gas of a get-method without a limit of its own, as in the reference client's library. */
  readonly gasLimit?: number;
  /** Longest run of one call; a million gas takes up to half a second. */
  readonly wallTimeMs?: number;
  /** Most bytes of an emulator's memory. A thread with more is replaced, because the memory never shrinks. */
  readonly memoryBytesMax?: number;
  /** Most bytes of cached libraries. */
  readonly libraryBytesMax?: number;
  /** Module of the thread. The URL differs when the service is bundled. */
  readonly workerUrl?: URL;
};

export const TVM_DEFAULTS = {
  workers: 2,
  queueMax: 512,
  gasLimit: 1_000_000,
  wallTimeMs: 2000,
  memoryBytesMax: 256 * 1024 * 1024,
  libraryBytesMax: 16 * 1024 * 1024,
} as const satisfies TvmOptions;

/** Bytes of the process for each thread. A thread usually takes 25 to 55 MB; the rest is for waiting results. */
const BYTES_PER_WORKER = 128 * 1024 * 1024;

/**
 * Returns the number of threads for a machine: all cores except one for the event loop. Two threads are the minimum, so that short runs pass long
 * runs.
 * @param memoryBytes memory limit of the process; it bounds the threads if a container has many cores and little memory
 */
export function workersFor(cores: number, memoryBytes: number): number {
  return Math.max(2, Math.min(cores - 1, Math.floor(memoryBytes / BYTES_PER_WORKER)));
}
