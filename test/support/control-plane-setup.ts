import { findControlPlane } from './control-plane-source.ts';
import { prepareHelm } from './helm.ts';
import { prepareKstatus } from './kstatus.ts';
import { prepareOptionalApis } from './optional-api-source.ts';

/**
 * Prepares Go programs and definitions of neighbours before the tests that use them: a build takes longer than any test may. Standard
 * error reports a failure (no way to the Go module proxy), and the tests that need the part are skipped, loudly.
 */
export default async function setup(): Promise<void> {
  for (const prepare of [() => findControlPlane({ build: true }), prepareHelm, prepareKstatus, prepareOptionalApis]) {
    await prepare().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }
}
