import { TvmError } from './errors.ts';
import type { Job, JobOutput } from './job.ts';
import { LIBRARIES_MAX, writeLibraries, type Libraries } from './libraries.ts';
import type { EmulatorPool } from './emulator-pool.ts';
import type { TvmWorld } from './tvm.ts';

/** Seqno that means the newest block, for calls without a block. */
const SEQNO_MAX = 0xffff_ffff;

/**
 * Runs a job with the libraries that are known to be needed, and again with each further library that the run needs.
 * @param mentioned hashes of libraries that the job's cells name, in hex
 * @param makeJob creates the job with these libraries, a dictionary as a bag of cells in base64
 * @param wanted hashes of the libraries that a run needs
 * @returns the last output, and the hashes of libraries that do not exist
 * @throws TvmError `tvm_library_unavailable`, and like `EmulatorPool.run` and `TvmWorld.fetchLibrary`
 */
export type LibraryRuns = (
  world: TvmWorld,
  mentioned: readonly string[],
  makeJob: (libraries: string) => Job,
  wanted: (output: JobOutput, found: ReadonlyMap<string, Buffer>) => readonly string[],
) => Promise<{ readonly output: JobOutput; readonly missing: readonly string[] }>;

export type LibraryRunsDependencies = {
  readonly threads: Pick<EmulatorPool, 'run'>;
  readonly libraries: Libraries;
};

/** @param options.wallTimeMs longest run of a world without a limit of its own */
export function createLibraryRuns(
  options: { readonly wallTimeMs: number },
  { threads, libraries }: LibraryRunsDependencies,
): LibraryRuns {
  return async (world, mentioned, makeJob, wanted) => {
    const { caller = '', payer = caller, wallMs = options.wallTimeMs, budget } = world;
    const bill = { payer, caller };
    const seqno = world.previousBlocks?.last[0]?.seqno ?? SEQNO_MAX;
    const found = libraries.known(mentioned, seqno);
    const missing: string[] = [];
    for (;;) {
      const job = makeJob(found.size === 0 ? '' : writeLibraries(found).toString('base64'));
      const wallTimeMs = Math.min(wallMs, budget?.leftMs ?? Infinity);
      if (wallTimeMs <= 0) throw new TvmError('tvm_timeout', { detail: 'the request has used its thread time' });
      const output = await threads.run(job, { bill, wallTimeMs, signal: world.signal, budget });
      const added = new Map<string, Buffer>();
      for (const hash of wanted(output, found)) {
        if (found.has(hash) || missing.includes(hash)) continue;
        const library = world.fetchLibrary && (await libraries.find(hash, seqno, world.fetchLibrary));
        if (library === undefined) missing.push(hash);
        else added.set(hash, library);
      }
      if (added.size === 0) return { output, missing };
      for (const [hash, library] of added) found.set(hash, library);
      if (found.size > LIBRARIES_MAX) {
        throw new TvmError('tvm_library_unavailable', {
          detail: 'the call needs too many libraries',
          limit: LIBRARIES_MAX,
        });
      }
    }
  };
}
