import { inject } from 'vitest';

import { createClusterClient, type ClusterClient } from './cluster-client.ts';
import type { ControlPlane } from './control-plane.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that answers with the control plane that test files share. */
    sharedControlPlaneUrl: string;
  }
}

/** A control plane without controllers, which has our definitions and those of the optional APIs. No test may stop it or change a definition. */
export type SharedControlPlane = Pick<
  ControlPlane,
  'server' | 'adminToken' | 'authority' | 'kubeconfig' | 'kubeconfigPath'
>;

/** The shared control plane and a client of its administrator. A test file works in namespaces of its own. */
export async function joinControlPlane(): Promise<{
  readonly plane: SharedControlPlane;
  readonly client: ClusterClient;
}> {
  const response = await fetch(inject('sharedControlPlaneUrl'));
  if (!response.ok) throw new Error(await response.text());
  const plane = (await response.json()) as SharedControlPlane;
  return { plane, client: createClusterClient({ ...plane, token: plane.adminToken }) };
}
