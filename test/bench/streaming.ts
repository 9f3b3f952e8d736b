import { wantedOf, type Bench, type BenchResult } from './bench.ts';
import { madeBlocks, madeParts } from './streaming/made-blocks.ts';
import { past } from './streaming/past.ts';
import { pods } from './streaming/pods.ts';
import { resumes } from './streaming/resumes.ts';
import { written } from './streaming/written.ts';

const CONNECTIONS = 500;

/** Parts besides those of one pod with made blocks: `resumes` has made blocks too, the others have a real index. */
const further: Readonly<Record<string, (connections: number) => Promise<BenchResult[]>>> = {
  resumes,
  written,
  past,
  pods,
};

const parts = [...madeParts, ...Object.keys(further)];

export const bench: Bench = {
  about: `streams of one pod on one core beside bare ws and node:http, and of pods on a real index: [--connections N] (${CONNECTIONS}), [--only ${parts.join(' ')}]`,
  async run(options) {
    const at = options.indexOf('--connections');
    const connections = at === -1 ? CONNECTIONS : Number(options[at + 1]);
    const wanted = wantedOf(options, parts);
    const made = madeParts.filter((part) => wanted.includes(part));
    const results: BenchResult[] = [];
    if (made.length > 0) results.push(...(await madeBlocks(connections, made)));
    for (const [name, measure] of Object.entries(further)) {
      if (wanted.includes(name)) results.push(...(await measure(connections)));
    }
    return results;
  },
};
