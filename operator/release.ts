import type { Release } from './desired/references.ts';
import type { OperatorOptions } from './options.ts';
import { schemaVersion } from './service-config.ts';

/** Installation options of the operator, in the form that builds of children use. */
export function releaseOf(options: OperatorOptions, version: string): Release {
  const { redisImage, prometheusUrl, monitoringNamespace, runbookUrl, namespace } = options;
  const { pullSecrets, platformIds, childMetadata, alertSeverities, blackboxExporter } = options;
  return {
    version,
    image: options.image ?? `tonplane/service:${version}`,
    redisImage,
    schemaVersion,
    prometheusUrl,
    monitoringNamespace,
    runbookUrl,
    operatorNamespace: namespace,
    childMetadata,
    alertSeverities,
    blackboxExporter,
    pullSecrets,
    platformIds,
  };
}
