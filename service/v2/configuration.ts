import type { LiveConfiguration, LiveLibrary } from '../live/configuration/configuration.ts';
import { optionalHashes } from './hash-parameter.ts';
import { optionalNonNegative, optionalSeqno } from './integer-parameter.ts';
import { defineOperation, mapAnswer, type Operation } from '../contract/operation.ts';
import { exactlyOne } from '../contract/parameter.ts';
import { boc, bocOrEmpty, hash } from './scalars.ts';
import { constant, list, named, object, type Infer } from '../contract/shape.ts';
import { viewBoc, viewHash } from './views.ts';

/** An unset parameter has no bytes (service/v2/README.md#configuration). */
const configCell = named('ConfigCell', object({ '@type': constant('tvm.cell'), bytes: bocOrEmpty }));

const configInfo = named('ConfigInfo', object({ '@type': constant('configInfo'), config: configCell }));

export function viewConfig(config: Buffer | null): Infer<typeof configInfo> {
  return { '@type': 'configInfo', config: { '@type': 'tvm.cell', bytes: viewBoc(config) } };
}

const libraryEntry = named('LibraryEntry', object({ '@type': constant('smc.libraryEntry'), hash, data: boc }));

/** Limit of libraries in a query. */
const LIBRARIES_MAX = 16;

const libraryResult = named(
  'LibraryResult',
  object({ '@type': constant('smc.libraryResult'), result: list(libraryEntry, LIBRARIES_MAX) }),
);

export function viewLibraries(libraries: readonly LiveLibrary[]): Infer<typeof libraryResult> {
  const result = libraries.map((library) => ({
    '@type': 'smc.libraryEntry' as const,
    hash: viewHash(library.hash),
    data: viewBoc(library.data),
  }));
  return { '@type': 'smc.libraryResult', result };
}

const oneName = {
  configId: optionalNonNegative('config_id', 'param'),
  param: optionalNonNegative('param'),
};

/** A body names the parameter once; in a query `config_id` wins (service/v2/README.md#configuration). */
const { schema, check } = exactlyOne(oneName, 'only one of config_id or param should be specified');
const oneNameRule = {
  schema,
  check: (values: { readonly configId?: number | undefined; readonly param?: number | undefined }, kind: string) =>
    check(kind === 'query' && values.configId !== undefined ? { configId: values.configId } : values),
};

const readable = { methods: ['GET', 'POST'], tag: 'configuration' } as const;

/** Operations on the blockchain's configuration (service/v2/README.md#configuration). */
export function configurationOperations(configuration: LiveConfiguration): readonly Operation[] {
  return [
    defineOperation({
      name: 'getConfigParam',
      ...readable,
      summary: 'One parameter of the configuration.',
      parameters: { ...oneName, seqno: optionalSeqno },
      rule: oneNameRule,
      result: configInfo,
      handle: async ({ configId, param = 0, seqno }, context) =>
        mapAnswer(await configuration.readParam(configId ?? param, seqno, context), viewConfig),
    }),
    defineOperation({
      name: 'getConfigAll',
      ...readable,
      summary: 'The whole configuration.',
      parameters: { seqno: optionalSeqno },
      result: configInfo,
      handle: async ({ seqno }, context) => mapAnswer(await configuration.readAll(seqno, context), viewConfig),
    }),
    defineOperation({
      name: 'getLibraries',
      ...readable,
      summary: 'Public libraries by hash, up to 16.',
      parameters: { libraries: optionalHashes('libraries') },
      result: libraryResult,
      handle: async ({ libraries = [] }, context) =>
        mapAnswer(await configuration.readLibraries(libraries, context), viewLibraries),
    }),
  ];
}
