import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { keyUint, walkHashmap } from '#service/decode/hashmap.ts';
import { merkleProofRoot } from '#service/decode/merkle.ts';
import { readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { openMasterchainState } from '#service/devchain/collator/masterchain-state.ts';
import { createDemo } from '#service/devchain/demo/demo.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { projectRoot } from '#test/style/sources.ts';

/** Proofs of a whole configuration; the last has the newest block. */
const recorded = fixtureFiles(/config-proof-.*\.boc$/).at(-1);
const page = readFileSync(join(projectRoot, 'service/devchain/README.md'), 'utf8');

/** Hashes of the parameters of a configuration, by number. */
function parametersOf(table: CellTable, root: number): ReadonlyMap<number, string> {
  const hashes = new Map<number, string>();
  walkHashmap(table, root, 32, (key, value) => {
    hashes.set(keyUint(key, 32) | 0, table.hash(value.ref()).toString('hex'));
  });
  return hashes;
}

/** Numbers in the first column of the table of differences; each row has all four columns filled. */
function listedNumbers(): readonly number[] {
  const [, section = ''] = page.split('### Configuration beside that of mainnet\n');
  const [table = ''] = section.split(/\n#/);
  return table.split('\n').flatMap((line) => {
    const cells = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim());
    if (!/^-?\d/.test(cells[0]!)) return [];
    expect([line, cells.length, cells.every((cell) => cell !== '')]).toEqual([line, 4, true]);
    return cells[0]!.split(', ').map(Number);
  });
}

describe('the configuration of a private network', () => {
  const missing = skipLoudly(recorded === undefined, {
    what: 'the configuration beside that of mainnet',
    why: 'no recorded configuration',
  });

  it.skipIf(missing)(
    'differs from that of mainnet in the parameters that its page lists, and in no other',
    async () => {
      const boc = parseBoc(readFileSync(recorded!));
      const { custom } = readShardState(boc, merkleProofRoot(boc, boc.roots[0]!));
      const mainnet = parametersOf(boc, readMasterchainStateExtra(boc, custom!).config.root);
      const network = await startPrivateNetwork();
      onTestFinished(() => network.close());
      await createDemo(network);
      const { states } = network.chain;
      const own = parametersOf(states, openMasterchainState(states, network.head().state).config.root);
      const numbers = [...new Set([...mainnet.keys(), ...own.keys()])].toSorted((one, other) => one - other);
      const different = numbers.filter((number) => mainnet.get(number) !== own.get(number));
      expect(listedNumbers().toSorted((one, other) => one - other)).toEqual(different);
    },
  );
});
