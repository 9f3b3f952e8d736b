import { stringify } from 'yaml';

import { configFromManifest } from '#service/config.ts';
import { ConfigError, type ConfigProblem } from '#service/config/errors.ts';
import type { TonApi } from '#service/config/manifest.gen.ts';

type Fields = Record<string, unknown>;

/** 32 bytes in base64. */
export const key = Buffer.alloc(32, 7).toString('base64');

/** Returns the spec of a TonApi with the required fields only. */
export function specOf(): Fields {
  return {
    network: 'testnet',
    zeroState: { rootHash: key, fileHash: key },
    liteServers: [{ name: 'a', address: '127.0.0.1:4443', publicKey: key }],
    plans: [
      { name: 'free', requestsPerSecond: 1 },
      { name: 'pro', requestsPerSecond: 100, burst: 200 },
    ],
    rateLimits: { redis: { secretRef: { name: 'redis' } } },
  };
}

/** Returns a TonApi with that spec; `change` may break it in any way. */
export function manifestOf(change: (spec: Fields, document: Fields) => void = () => {}): string {
  const spec = specOf();
  const document: Fields = { apiVersion: 'tonplane.dev/v1alpha1', kind: 'TonApi', metadata: { name: 'test' }, spec };
  change(spec, document);
  return stringify(document);
}

/** Returns the first plan, lite server or other element of a list in the spec. */
export function firstOf(spec: Fields, list: keyof TonApi['spec']): Fields {
  return (spec[list] as Fields[])[0] ?? {};
}

/** Returns the problems of a manifest. */
export function problemsOf(text: string): readonly ConfigProblem[] {
  try {
    configFromManifest(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.data.problems;
    throw error;
  }
  return [];
}

/** Returns `path: expected` of every problem. */
export function problemLines(text: string): string[] {
  return problemsOf(text).map(({ path, expected }) => `${path}: ${expected}`);
}
