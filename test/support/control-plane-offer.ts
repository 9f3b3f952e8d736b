import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { createClusterClient } from './cluster-client.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { applyDefinitions } from './crds.ts';
import { withoutOptionalApis } from './optional-api-source.ts';
import { applyOptionalApis } from './optional-apis.ts';

/**
 * Offers the shared control plane for a run. The first request starts it. It belongs to the main process of vitest, because processes of a
 * thread end with the thread.
 */
export async function offerControlPlane(): Promise<{ readonly url: string; close(): Promise<void> }> {
  let plane: Promise<ControlPlane> | undefined;
  const offer = createServer((_request, response) => {
    plane ??= startWithDefinitions();
    plane.then(
      ({ server, adminToken, authority, kubeconfig, kubeconfigPath }) =>
        response.end(JSON.stringify({ server, adminToken, authority, kubeconfig, kubeconfigPath })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((done) => offer.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(offer.address() as AddressInfo).port}`,
    async close() {
      offer.closeAllConnections();
      offer.close();
      const started = await plane?.catch(() => undefined);
      await started?.stop();
    },
  };
}

async function startWithDefinitions(): Promise<ControlPlane> {
  const plane = await startControlPlane({ controllers: false });
  const client = createClusterClient({ ...plane, token: plane.adminToken });
  try {
    await applyDefinitions(client);
    if (!withoutOptionalApis('optional APIs of the shared control plane')) await applyOptionalApis(client);
  } catch (error) {
    await plane.stop();
    throw error;
  } finally {
    await client.close();
  }
  return plane;
}
