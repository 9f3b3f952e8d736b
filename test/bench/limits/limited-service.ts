import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { makeKey } from '#service/limits/keys.ts';
import { startNetwork } from '#test/support/api-processes.ts';
import { startService } from '#test/support/service-process.ts';

/** A service process in front of a private network, with a key of each of two plans. */
export type LimitedService = {
  readonly pid: number;
  /** URL of a cheap operation. */
  readonly url: string;
  readonly smallKey: string;
  readonly bigKey: string;
  readonly stop: () => Promise<void>;
};

/** Starts the service. Rates are requests a second. */
export async function startLimitedService(rates: {
  readonly small: number;
  readonly big: number;
}): Promise<LimitedService> {
  const [small, big] = [makeKey(randomBytes), makeKey(randomBytes)];
  const rowOf = ({ id, sha256 }: typeof small, plan: string) => ({ id, sha256: sha256.toString('hex'), plan });
  const folder = mkdtempSync(join(tmpdir(), 'bench-limits-'));
  const [manifest, keyring] = [join(folder, 'tonapi.yaml'), join(folder, 'keyring.json')];
  const network = await startNetwork();
  const plans = Object.entries(rates).map(([name, requestsPerSecond]) => ({ name, requestsPerSecond }));
  writeFileSync(manifest, network.manifest({ plans, anonymousPlan: 'small' }));
  writeFileSync(keyring, JSON.stringify({ keys: [rowOf(small, 'small'), rowOf(big, 'big')] }));
  const service = await startService(['--manifest', manifest, '--keyring', keyring]);
  return {
    pid: service.pid!,
    url: `${service.url}/api/v2/getMasterchainInfo`,
    smallKey: small.key,
    bigKey: big.key,
    async stop() {
      await service.stop();
      await network.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
