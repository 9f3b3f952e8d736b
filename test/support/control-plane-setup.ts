import { findControlPlane } from './control-plane-source.ts';
import { prepareHelm } from './helm.ts';

/** Builds the control plane and Helm before the tests that start one: a build takes longer than any test may. */
export default async function setup(): Promise<void> {
  await findControlPlane({ build: true });
  await prepareHelm();
}
