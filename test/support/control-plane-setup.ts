import { findControlPlane } from './control-plane-source.ts';
import { prepareHelm } from './helm.ts';
import { prepareKstatus } from './kstatus.ts';

/**
 * Builds the control plane and Helm before the tests that use them: a build takes longer than any test may. A build that fails (no way to
 * the Go module proxy) is told, and the tests that need it are skipped, loudly.
 */
export default async function setup(): Promise<void> {
  for (const prepare of [() => findControlPlane({ build: true }), prepareHelm, prepareKstatus]) {
    await prepare().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }
}
