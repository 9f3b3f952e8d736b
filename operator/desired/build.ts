import type { TonApi } from '../resource.ts';
import { buildAutoscaler } from './autoscaler.ts';
import { buildConfigMap } from './config-map.ts';
import { buildApiDeployment, buildCanaryDeployment } from './deployment.ts';
import { buildApiBudget, buildIndexerBudget } from './disruption-budget.ts';
import { buildExposure } from './exposure.ts';
import { withGivenMetadata } from './given-metadata.ts';
import { buildIndexer, buildMigration } from './indexer.ts';
import { buildKeyring } from './keyring.ts';
import { buildMetadata } from './metadata.ts';
import { buildMonitoring } from './monitoring.ts';
import { buildNetworkPolicies } from './network-policy.ts';
import { buildRedis } from './redis.ts';
import { stages, type DesiredObject, type References, type Release } from './references.ts';
import { buildApiServices, buildCanaryService } from './service.ts';
import { buildServiceAccount } from './service-account.ts';

/**
 * Every child of a TonApi as it should be, in the order of the stages. Pure: no I/O, no clock, no randomness; the same arguments give the same objects,
 * byte for byte.
 */
export function build(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  const children = [
    buildConfigMap(tonApi, references, release),
    ...buildKeyring(tonApi, references, release),
    buildServiceAccount(tonApi, release),
    ...buildNetworkPolicies(tonApi, references, release),
    ...buildRedis(tonApi, references, release),
    buildMigration(tonApi, references, release),
    ...buildIndexer(tonApi, references, release),
    buildIndexerBudget(tonApi, release),
    buildApiDeployment(tonApi, references, release),
    buildCanaryDeployment(tonApi, references, release),
    ...buildMetadata(tonApi, references, release),
    ...buildApiServices(tonApi, references, release),
    buildCanaryService(tonApi, references, release),
    buildAutoscaler(tonApi, references, release),
    buildApiBudget(tonApi, release),
    buildExposure(tonApi, references, release),
    ...buildMonitoring(tonApi, references, release),
  ];
  return children
    .filter((desired) => desired !== undefined)
    .map((desired) => withGivenMetadata(desired, tonApi, release))
    .toSorted((a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage));
}
