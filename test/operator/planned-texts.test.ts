import { describe, expect, it } from 'vitest';

import { plannedTexts } from '#operator/planned-texts.ts';
import type { TonApi } from '#operator/resource.ts';
import { sample } from '#test/operator/desired/samples.ts';

const { signal } = new AbortController();

/** TonApis of the namespace `ton`. */
function named(...names: readonly string[]): TonApi[] {
  const tonApi = sample('smallest');
  return names.map((name) => ({ ...tonApi, metadata: { ...tonApi.metadata, namespace: 'ton', name } }));
}

async function failingAtA({ metadata }: TonApi): Promise<string> {
  if (metadata.name === 'a') throw new TypeError('Invalid URL');
  return 'no change\n';
}

describe('the plans of a cluster', () => {
  it('are in order of the names', async () => {
    const found = await plannedTexts(named('b', 'a'), async () => 'no change\n', signal);
    expect(found).toEqual({ text: 'TonApi ton/a: no change\n\nTonApi ton/b: no change\n', problems: [] });
  });

  it('go on after the error of one TonApi, which is a problem that names it', async () => {
    const problem = 'TonApi ton/a: no plan, because of an error: Invalid URL';
    expect(await plannedTexts(named('a', 'b'), failingAtA, signal)).toEqual({
      text: `${problem}\n\nTonApi ton/b: no change\n`,
      problems: [problem],
    });
  });

  it('end when their time has ended', async () => {
    const ended = AbortSignal.abort();
    await expect(plannedTexts(named('a', 'b'), failingAtA, ended)).rejects.toThrow('Invalid URL');
  });

  it('say so when there is no TonApi', async () => {
    expect(await plannedTexts([], async () => '', signal)).toEqual({ text: 'no TonApi\n', problems: [] });
  });
});
