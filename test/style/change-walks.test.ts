import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { listFiles, projectRoot } from './sources.ts';

/** Addition of one kind with one place forgotten, and the error that the compiler reports. */
type ForgottenPlace = {
  readonly what: string;
  readonly path: string;
  /** Text to replace once; absent: `by` is a new file. */
  readonly replace?: string;
  readonly by: string;
  readonly error: { readonly path: string; readonly text: string };
};

const nextFunction = '/** Answered only by nodes that run with `--nonfinal-ls`. */';

const forgotten: readonly ForgottenPlace[] = [
  {
    what: 'a lite-server function without its cost',
    path: 'service/liteserver/functions.ts',
    replace: nextFunction,
    by: `export const getCostless = define('getCostless', { id: blockId }, api.blockData, {
  positions: namedBlock, depth: blockOf, waitsFor: nothing, proof: 'checked',
});
${nextFunction}`,
    error: { path: 'service/liteserver/functions.ts', text: "Property 'cost' is missing" },
  },
  {
    what: 'a lite-server function that the private network does not answer',
    path: 'service/liteserver/functions.ts',
    replace: nextFunction,
    by: `export const getUnanswered = define('getUnanswered', { id: blockId }, api.blockData, {
  cost: 'heavy', positions: namedBlock, depth: blockOf, waitsFor: nothing, proof: 'checked',
});
${nextFunction}`,
    error: { path: 'service/devchain/queries/queries.ts', text: 'getUnanswered' },
  },
  {
    what: 'a read that does not check the proof of its answer',
    path: 'service/live/unchecked-read.ts',
    by: `import { getBlock } from '#service/liteserver/functions.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { ReadContext } from '#service/contract/answer.ts';

export const readUnchecked = (pool: Pool, id: BlockId, context: ReadContext) => pool.query(getBlock, { id }, context, {});
`,
    error: { path: 'service/live/unchecked-read.ts', text: "Property 'check' is missing" },
  },
  {
    what: 'a type of actions without a version of clients',
    path: 'service/actions/protocols/elections.ts',
    replace: 'const types = {',
    by: "const types = { election_gift: { words: ['', ''], groups: [], isIndivisible: false, details: null },",
    error: { path: 'service/actions/protocols/elections.ts', text: "Property 'since' is missing" },
  },
  {
    what: 'a type of actions without words for people',
    path: 'service/actions/protocols/elections.ts',
    replace: 'const types = {',
    by: "const types = { election_present: { since: 'v1', groups: [], isIndivisible: false, details: null },",
    error: { path: 'service/actions/protocols/elections.ts', text: "Property 'words' is missing" },
  },
  {
    what: 'a field of details of an unknown kind',
    path: 'service/actions/protocols/subscriptions.ts',
    replace: "'address source'",
    by: "'adress source'",
    error: { path: 'service/actions/protocols/subscriptions.ts', text: 'adress source' },
  },
  {
    what: 'a pattern that makes an undescribed type',
    path: 'service/actions/protocols/jvault.ts',
    replace: "type: 'jvault_stake'",
    by: "type: 'jvault_gift'",
    error: { path: 'service/actions/protocols/jvault.ts', text: 'jvault_gift' },
  },
  {
    what: 'a matcher without a precedence',
    path: 'service/actions/families.ts',
    replace: "'jvault.claim',",
    by: '',
    error: { path: 'service/actions/families.ts', text: 'jvault.claim' },
  },
  {
    what: 'a hot field that the configuration does not have',
    path: 'service/config/manifest.gen.ts',
    replace: 'export const hotFields = [',
    by: "export const hotFields = ['surfaceColor',",
    error: { path: 'service/config/hot.ts', text: 'surfaceColor' },
  },
  {
    what: 'a hot field that no part of a running process takes',
    path: 'service/config/manifest.gen.ts',
    replace: 'export const hotFields = [',
    by: "export const hotFields = ['drainSeconds',",
    error: { path: 'service/main/wiring/follow-configuration.ts', text: 'drainSeconds' },
  },
  {
    what: 'a wallet whose data have an unknown layout',
    path: 'service/decode/known-codes.ts',
    replace: "data: 'v5',",
    by: "data: 'v6',",
    error: { path: 'service/decode/known-codes.ts', text: '"v6"' },
  },
  {
    what: 'a part of the orders of wallets that Ton Connect does not write',
    path: 'service/decode/wallet-layouts.ts',
    replace: 'plainTransfer: 8,',
    by: 'plainTransfer: 8, gifts: 8,',
    error: { path: 'service/emulate/ton-connect/unsigned-message.ts', text: 'gifts' },
  },
  {
    what: 'a column that the indexer does not write',
    path: 'service/store/tables.ts',
    replace: '  global_version: nullable(int),',
    by: '  global_version: nullable(int),\n  created_ms: nullable(int),',
    error: { path: 'service/indexer/rows/block-row.ts', text: 'created_ms' },
  },
  {
    what: 'a column of an answer that its view does not show',
    path: 'service/v3/views/block-views.ts',
    replace: '    created_by: hash,',
    by: '    created_by: hash,\n    created_ms: integer,',
    error: { path: 'service/v3/views/block-views.ts', text: 'created_ms' },
  },
  {
    what: 'a number of plans without a rule for several subjects',
    path: 'service/config/manifest.gen.ts',
    replace: '      readonly requestsPerSecond: number;',
    by: '      readonly requestsPerSecond: number; readonly tokensPerRequest?: number;',
    error: { path: 'service/limits/budget.ts', text: 'tokensPerRequest' },
  },
  {
    what: 'a metric without a help text',
    path: 'service/streaming/metrics.ts',
    replace: '  return {',
    by: "  new Counter({ name: 'ton_streaming_gifts_total', registers: [register] });\n  return {",
    error: { path: 'service/streaming/metrics.ts', text: "Property 'help' is missing" },
  },
  {
    what: 'an alert without a severity',
    path: 'operator/desired/alert-rules.ts',
    replace: "    severity: 'warning',\n    summary,\n  });",
    by: '    summary,\n  });',
    error: { path: 'operator/desired/alert-rules.ts', text: "'severity' is missing" },
  },
  {
    what: 'a panel in a row that no dashboard has',
    path: 'service/proof/metrics.ts',
    replace: "row: 'Proofs and get-methods'",
    by: "row: 'Gifts'",
    error: { path: 'charts/monitoring/dashboards.ts', text: '"Gifts"' },
  },
];

const roots = [
  ...listFiles('service', /\.d\.ts$/),
  'charts/monitoring/dashboards.ts',
  'operator/desired/alert-rules.ts',
  'service/actions/families.ts',
  'service/config/hot.ts',
  'service/devchain/queries/queries.ts',
  'service/emulate/ton-connect/unsigned-message.ts',
  'service/indexer/rows/block-row.ts',
  'service/limits/budget.ts',
  'service/live/unchecked-read.ts',
  'service/main/wiring/follow-configuration.ts',
  'service/v3/views/block-views.ts',
];

describe('The compiler names the place that a change forgets', () => {
  let copy = '';
  let errors: readonly string[] = [];

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'tonplane-walks-'));
    for (const part of ['charts', 'operator', 'service', 'package.json', 'tsconfig.json']) {
      cpSync(join(projectRoot, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
    writeFileSync(join(copy, 'walks.json'), JSON.stringify({ extends: './tsconfig.json', include: [], files: roots }));
    for (const { path, replace, by } of forgotten) {
      const file = join(copy, path);
      writeFileSync(file, replace === undefined ? by : readFileSync(file, 'utf8').replace(replace, () => by));
    }
    errors = compilerErrors(copy);
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it.each(forgotten.map((place) => [place.what, place] as const))('%s is a type error', (_what, { error }) => {
    expect(errors.filter((text) => text.startsWith(`${error.path}(`) && text.includes(error.text))).not.toEqual([]);
  });

  it('a forgotten place is reported there and nowhere else', () => {
    const others = errors.filter((text) => !forgotten.some(({ error }) => text.startsWith(`${error.path}(`)));
    expect(others).toEqual([]);
  });
});

/** Returns the errors of the compiler in a copy, each with its further lines. */
function compilerErrors(folder: string): string[] {
  try {
    execFileSync(
      join(projectRoot, 'node_modules/.bin/tsc'),
      ['-p', 'walks.json', '--pretty', 'false', '--singleThreaded'],
      {
        cwd: folder,
      },
    );
    return [];
  } catch (error) {
    const { stdout } = error as { readonly stdout?: Buffer };
    return (stdout?.toString('utf8') ?? '').split(/\n(?=\S)/).filter((text) => text !== '');
  }
}
