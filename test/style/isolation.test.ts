import { matchesGlob } from 'node:path';

import { describe, expect, it } from 'vitest';

import { apart, onControlPlane, timed } from '#test/support/file-groups.ts';
import { repeatedKinds } from '#test/support/repeated-kinds.ts';

import { listFiles, readSources } from './sources.ts';

/** A patch of timers, of modules, of globals, of the environment, of the process. */
const patch =
  /\bvi\.(mock|doMock|hoisted|useFakeTimers|setSystemTime|stub\w+|spyOn)\(|\bprocess\.(chdir|on|once)\(|\bprocess\.env(\.\w+|\[[^\]]+\]) = |\bglobalThis\.\w+ = |\bdelete process\.env/;

const tests = readSources('test/service', 'test/operator', 'test/crds', 'test/charts', 'test/e2e').filter(({ path }) =>
  path.endsWith('.test.ts'),
);
const isIn = (path: string, globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(path, glob));

describe('Isolation of tests', () => {
  it('A test that patches what its thread shares has a thread of its own', () => {
    const isolated = [...apart, ...onControlPlane];
    const patching = tests.filter(({ path, text }) => patch.test(text) && !isIn(path, isolated));
    expect(patching.map(({ path }) => path)).toEqual([]);
  });

  it('Each entry of the lists of tests apart and of timed tests is the path of a test', () => {
    expect([...apart, ...timed].filter((glob) => !tests.some(({ path }) => matchesGlob(path, glob)))).toEqual([]);
  });

  it('Each file of a repeated kind is a test, stands in one list, and each kind has a file in quick runs', () => {
    const paths = new Set(listFiles('test', /\.test\.ts$/));
    const files = repeatedKinds.flatMap(({ quick, more }) => [...quick, ...more]);
    expect(files.filter((file) => !paths.has(file))).toEqual([]);
    expect(files.filter((file, index) => files.indexOf(file) !== index)).toEqual([]);
    expect(repeatedKinds.filter(({ quick }) => quick.length === 0)).toEqual([]);
  });
});
