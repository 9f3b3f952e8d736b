import { parseAllDocuments } from 'yaml';

import { ConfigError, shown, type ConfigProblem } from './errors.ts';
import type { TonApi } from './manifest.gen.ts';
import { checkRules } from './rules.ts';
import { validateManifest } from './schema.ts';

/** Versions of a TonApi, which have the same form. */
const apiVersions: readonly unknown[] = ['tonplane.dev/v1alpha1', 'tonplane.dev/v1beta1'];

/**
 * Most bytes of a manifest file. An object in Kubernetes has at most about 1.5 MB. The file may also contain the ConfigMaps that the manifest refers
 * to.
 */
export const MANIFEST_BYTES_MAX = 2 * 1024 * 1024;

/** Most YAML aliases, because aliases let a small file expand to a huge one. */
const ALIASES_MAX = 100;

type Fields = Readonly<Record<string, unknown>>;

/** Manifest that matches the schema and the rules, with defaults filled in. Includes the ConfigMaps and Secrets of the same file. */
export type Manifest = {
  readonly tonApi: TonApi;
  /** Returns the text of a key of a ConfigMap or Secret in the same file; undefined when it is missing. */
  readonly lookup: (reference: {
    readonly kind: 'ConfigMap' | 'Secret';
    readonly name: string;
    readonly key: string;
  }) => string | undefined;
};

/**
 * Reads a TonApi from a YAML or JSON file, which may contain further documents.
 *
 * @throws ConfigError with all problems found
 */
export function readManifest(text: string): Manifest {
  const documents = parseDocuments(text);
  const tonApis = documents.filter((document) => document['kind'] === 'TonApi');
  const [tonApi] = tonApis;
  if (tonApi === undefined || tonApis.length > 1) {
    throw unreadable(`expected one document of kind TonApi, got ${tonApis.length}`);
  }
  const { misshapen, repeated } = validateManifest(tonApi);
  const identity = checkIdentity(tonApi);
  const unusable = [...identity, ...misshapen.filter(({ path }) => !identity.some((problem) => problem.path === path))];
  const problems = [...unusable, ...repeated, ...checkRules(tonApi, unusable)];
  if (problems.length > 0) throw new ConfigError('config_invalid', problems);
  return {
    tonApi: tonApi as TonApi,
    lookup: ({ kind, name, key }) => {
      const holder = documents.find(
        (document) => document['kind'] === kind && fieldsOf(document['metadata'])['name'] === name,
      );
      return holder === undefined ? undefined : valueOf(holder, key);
    },
  };
}

function parseDocuments(text: string): Fields[] {
  if (Buffer.byteLength(text) > MANIFEST_BYTES_MAX) throw unreadable(`expected at most ${MANIFEST_BYTES_MAX} bytes`);
  let documents: unknown[];
  try {
    const parsed = parseAllDocuments(text);
    // Without a document the parser returns an empty stream instead of a list.
    documents = (Array.isArray(parsed) ? parsed : []).map((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      return document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown;
    });
  } catch (error) {
    // The parser's message quotes the faulty line. Its first line has the problem and position only.
    throw unreadable(`expected YAML or JSON: ${(error as Error).message.split('\n')[0]}`);
  }
  return documents.filter((document): document is Fields => typeof document === 'object' && document !== null);
}

function checkIdentity(document: Fields): ConfigProblem[] {
  const version = document['apiVersion'];
  const { name, namespace } = fieldsOf(document['metadata']);
  return [
    ...(apiVersions.includes(version)
      ? []
      : [{ path: 'apiVersion', expected: `expected ${apiVersions.join(' or ')}, got ${shown(version)}` }]),
    ...(typeof name === 'string' && name !== ''
      ? []
      : [{ path: 'metadata.name', expected: `expected a name, got ${shown(name)}` }]),
    ...(namespace === undefined || namespace === null || isNamespace(namespace)
      ? []
      : [{ path: 'metadata.namespace', expected: `expected the name of a namespace, got ${shown(namespace)}` }]),
  ];
}

/** Reports whether a value is a DNS label, as Kubernetes requires. The namespace becomes part of Redis keys. */
function isNamespace(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(value);
}

/** Returns a value of a ConfigMap (`data`, `binaryData`) or a Secret (`stringData`, `data` in base64). */
function valueOf(holder: Fields, key: string): string | undefined {
  const [plain, encoded] = holder['kind'] === 'Secret' ? ['stringData', 'data'] : ['data', 'binaryData'];
  const text = fieldsOf(holder[plain])[key];
  if (typeof text === 'string') return text;
  const base64 = fieldsOf(holder[encoded])[key];
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString('utf8') : undefined;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function unreadable(expected: string): ConfigError {
  return new ConfigError('config_unreadable', [{ path: '', expected }]);
}
