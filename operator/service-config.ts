/**
 * Only import of the service's configuration code: one manifest, read by one function on both sides.
 * The operator mounts the text that the service reads, and computes the hash that every pod must report.
 */
export {
  configFromManifest,
  hotHash as serviceHotHash,
  hotHashOfManifest,
  type KeyringRow,
} from '../service/config.ts';
export { keyHash, makeKey } from '../service/config/api-key.ts';
export { operationNamed, operationNames, similarOperations } from '../service/config/operation-names.ts';
export { ConfigError, shown } from '../service/config/errors.ts';
export { ownContainers, type OwnVolume } from '../service/config/pod-template-rules.ts';
export { scopeOf } from '../service/config/scope.ts';
export { postgresPartNames, type PostgresParts } from '../service/config/postgres-parts.ts';
export { durationMs, readDurationMs } from '../service/config/duration.ts';
export { formats, type FormatName } from '../service/config/formats.ts';
export { validateManifest } from '../service/config/schema.ts';
export { hotFields, tonApiSchema } from '../service/config/manifest.gen.ts';
export { readGlobalConfig } from '../service/config/global-config.ts';
export { schemaVersion } from '../service/store/migrations/steps.ts';
