/** Settings of the TVM. */
export type TvmOptions = {
  /** Threads that run calls, see `workersFor`; with 1 long runs hold up short ones. */
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
  workers: 2,
  queueMax: 512,
  gasLimit: 1_000_000,
  wallTimeMs: 2000,
  memoryBytesMax: 256 * 1024 * 1024,
  libraryBytesMax: 16 * 1024 * 1024,
} as const satisfies TvmOptions;

/** A thread of the TVM takes 25 to 55 MB as a rule; what the process has for it also bears the results that wait. */
const BYTES_PER_WORKER = 128 * 1024 * 1024;

/**
 * Threads for a machine: all cores but the one of the event loop, and at least two, so that short runs pass long ones.
 * @param memoryBytes what the process may use; a bound where a container sees many cores and has little memory
 */
export function workersFor(cores: number, memoryBytes: number): number {
  return Math.max(2, Math.min(cores - 1, Math.floor(memoryBytes / BYTES_PER_WORKER)));
}
