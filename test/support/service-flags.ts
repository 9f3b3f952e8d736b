import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const projectRoot = resolve(import.meta.dirname, '../..');

const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  scripts: { start: string };
};

/** What `npm start` gives to Node, and the image too: processes of tests and benchmarks run with the same. */
export const serviceFlags: readonly string[] = scripts.start.split(' ').filter((word) => word.startsWith('--'));
