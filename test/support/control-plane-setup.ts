import type { TestProject } from 'vitest/node';

import { offerControlPlane } from './control-plane-offer.ts';
import { findControlPlane } from './control-plane-source.ts';
import { prepareHelm } from './helm.ts';
import { prepareKstatus } from './kstatus.ts';
import { prepareOptionalApis } from './optional-api-source.ts';

/**
 * Prepares Go programs and definitions of neighbours before the tests that use them: a build takes longer than any test may. Standard
 * error reports a failure (no way to the Go module proxy), and the tests that need the part are skipped, loudly. Then it offers the
 * shared control plane.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const prepare of [() => findControlPlane({ build: true }), prepareHelm, prepareKstatus, prepareOptionalApis]) {
    await prepare().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
  }
  const offer = await offerControlPlane();
  project.provide('sharedControlPlaneUrl', offer.url);
  return () => offer.close();
}
