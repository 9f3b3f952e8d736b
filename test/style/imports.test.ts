import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { vendoredSpecifiers } from '#service/explorer/vendored.ts';
import { projectRoot, readSources, type Source } from './sources.ts';

/** Stage -> the stages it may import: the flow of design and nothing else. `main.ts` wires all of its side. */
const allowed: Record<string, readonly string[]> = {
  error: [],
  manifest: [],
  config: ['error', 'manifest'],
  decode: ['error'],
  tls: [],
  store: ['error', 'tls'],
  limits: ['error', 'config', 'tls', 'telemetry'],
  telemetry: ['error', 'tls'],
  liteserver: ['error', 'decode'],
  runtime: [],
  proof: ['error', 'decode', 'runtime'],
  tvm: ['error', 'decode', 'telemetry'],
  pool: ['error', 'decode', 'liteserver', 'proof', 'runtime', 'telemetry'],
  contract: ['error', 'decode', 'pool', 'runtime', 'tvm'],
  live: ['error', 'contract', 'decode', 'pool', 'proof', 'tvm', 'liteserver', 'runtime'],
  simulation: ['error', 'decode', 'live', 'tvm', 'actions', 'interfaces', 'runtime'],
  pending: ['error', 'decode', 'live', 'simulation', 'actions', 'interfaces', 'contract', 'runtime', 'telemetry'],
  v2: ['error', 'contract', 'decode', 'live', 'runtime', 'tvm'],
  v3: [
    'error',
    'contract',
    'decode',
    'live',
    'pending',
    'simulation',
    'store',
    'actions',
    'runtime',
    'tvm',
    'telemetry',
  ],
  emulate: [
    'error',
    'contract',
    'decode',
    'live',
    'interfaces',
    'simulation',
    'store',
    'v3',
    'runtime',
    'tvm',
    'telemetry',
  ],
  streaming: [
    'error',
    'config',
    'contract',
    'decode',
    'live',
    'store',
    'actions',
    'pending',
    'v3',
    'runtime',
    'telemetry',
  ],
  explorer: [],
  http: ['error', 'telemetry', 'limits', 'contract', 'v2', 'v3', 'emulate', 'streaming', 'explorer', 'runtime'],
  actions: ['error', 'decode'],
  interfaces: ['error', 'actions', 'contract', 'decode', 'live', 'tvm', 'store', 'runtime'],
  interpreter: ['error', 'actions', 'contract', 'decode', 'interfaces', 'live', 'store', 'runtime', 'telemetry'],
  metadata: ['error', 'store', 'runtime', 'telemetry'],
  indexer: ['error', 'decode', 'live', 'tvm', 'store', 'runtime', 'contract', 'telemetry'],
  devchain: ['error', 'decode', 'tvm', 'liteserver', 'runtime', 'telemetry'],
};

const service = readSources('service');
const operator = readSources('operator');
const tests = readSources('test');

/** `service/pool/score.ts` -> `pool`; `service/config.ts` and `service/manifest.gen.ts` -> their names. */
function stageOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/(\.gen)?\.ts$/, '');
}

/** The set of revoked keys is in the service's Redis, whose URL has special forms. The version of the schema is the number of its steps. */
const reachedByOperator = [
  'service/limits/redis/connection.ts',
  'service/limits/redis/revocation-set.ts',
  'service/store/migrations/steps.ts',
  'service/tls/client-certificate.ts',
];

function crossings(sources: readonly Source[]): { from: string; to: string; line: string }[] {
  return sources.flatMap((source) =>
    source.imports
      .filter((entry) => /^(service|operator)\//.test(entry.target ?? ''))
      .filter((entry) => stageOf(entry.target ?? '') !== stageOf(source.path))
      .map((entry) => ({
        from: stageOf(source.path),
        to: stageOf(entry.target ?? ''),
        line: `${source.path} imports ${entry.target}`,
      })),
  );
}

describe('imports', () => {
  it('finds the sources it judges', () => {
    expect(service.length).toBeGreaterThan(5);
  });

  it('go one way between the stages of the service', () => {
    const wrong = crossings(service).filter(({ from, to }) => from !== 'main' && !(allowed[from] ?? []).includes(to));
    expect(wrong.map((entry) => entry.line)).toEqual([]);
  });

  it('of the stages are those of the table in the README of the service', () => {
    const page = readFileSync(join(projectRoot, 'service/README.md'), 'utf8');
    const table = /^## Stages$([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
    const rows = [...table.matchAll(/^\| [[`](\w+)[\]`][^|]*\|[^|]*\| ?([^|]*)\|$/gm)].map(
      ([, stage = '', list = '']) => [stage, list.trim() === '' ? [] : list.trim().split(', ')] as const,
    );
    expect(Object.fromEntries(rows)).toEqual(allowed);
  });

  it('name every stage that exists', () => {
    const stages = new Set(service.map((source) => stageOf(source.path)));
    expect([...stages].filter((stage) => stage !== 'main' && allowed[stage] === undefined)).toEqual([]);
  });

  it('of the operator reach only the configuration, the base error and telemetry of the service', () => {
    const wrong = operator
      .flatMap((source) => source.imports.map((entry) => ({ path: source.path, target: entry.target ?? '' })))
      .filter(({ target }) => target.startsWith('service/'))
      .filter(({ target }) => !reachedByOperator.includes(target))
      .filter(({ target }) => !['config', 'error', 'telemetry'].includes(stageOf(target)));
    expect(wrong).toEqual([]);
  });

  it('never lead from the service to the operator or to tests', () => {
    const wrong = service.flatMap((source) =>
      source.imports.filter((entry) => entry.target !== undefined && !/^(service\/|package\.json$)/.test(entry.target)),
    );
    expect(wrong).toEqual([]);
  });

  it('climb at most one folder', () => {
    const wrong = [...service, ...operator, ...tests].flatMap((source) =>
      source.imports
        .filter((entry) => entry.specifier.startsWith('../../'))
        .map((entry) => `${source.path}: ${entry.specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it('never go through a barrel', () => {
    const all = [...service, ...operator, ...tests, ...readSources('crds')];
    const barrels = all.filter(
      (source) => /(^|\/)index\.ts$/.test(source.path) || /^export \* from/m.test(source.text),
    );
    expect(barrels.map((source) => source.path)).toEqual([]);
  });

  it('of the explorer in the browser reach the application itself and the packages that the listener serves', () => {
    const app = 'service/explorer/app/';
    const modules = service.filter(({ path }) => path.startsWith(app));
    expect(modules.length).toBeGreaterThan(20);
    const wrong = modules.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier, target }) =>
          target === undefined ? !vendoredSpecifiers.includes(specifier) : !target.startsWith(app),
        )
        .map(({ specifier }) => `${path}: ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it('never lead from the service in Node to the application in the browser', () => {
    const wrong = service
      .filter(({ path }) => !path.startsWith('service/explorer/app/'))
      .flatMap(({ imports }) => imports.filter(({ target }) => target?.startsWith('service/explorer/app/')));
    expect(wrong).toEqual([]);
  });

  it('form no cycle between stages', () => {
    const edges = new Map<string, Set<string>>();
    for (const { from, to } of crossings([...service, ...operator])) {
      if (from === 'main') continue;
      edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
    expect(findCycle(edges)).toBeUndefined();
  });

  it.each(['v3', 'devchain', 'live', 'main', 'actions'])('form no cycle between the folders of %s', (stage) => {
    const edges = new Map<string, Set<string>>();
    for (const { path, imports } of service.filter((source) => source.path.startsWith(`service/${stage}/`))) {
      for (const { target } of imports) {
        if (!target?.startsWith(`service/${stage}/`) || dirname(target) === dirname(path)) continue;
        edges.set(dirname(path), (edges.get(dirname(path)) ?? new Set()).add(dirname(target)));
      }
    }
    expect(edges.size).toBeGreaterThan(1);
    expect(findCycle(edges)).toBeUndefined();
  });
});

function findCycle(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of edges.get(node) ?? []) {
      const cycle = visit(next, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of edges.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return undefined;
}
