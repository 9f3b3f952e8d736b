import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { configFromManifest } from '#service/config.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { sample } from '#test/service/crds/definitions.ts';

const [globalConfig = ''] = fixtureFiles(/global\.config\.json$/).map((file) => readFileSync(file, 'utf8'));

describe('the sample', () => {
  it.each(['smallest', 'typical'])(
    'the sample %s makes a configuration with the global config it refers to',
    (name) => {
      const config = configFromManifest(sample(name).text, { globalConfig });
      expect(config.liteServers.length).toBeGreaterThan(0);
      expect(config.anonymousPlan).not.toBeNull();
    },
  );

  it('the full sample makes a configuration by itself', () => {
    const config = configFromManifest(sample('full').text);
    expect(config.liteServers.map(({ host }) => host)).toEqual(['192.0.2.10', '2001:db8::10']);
    expect(config.observability.tracing).toEqual({
      endpoint: 'https://collector.observability:4318',
      sampleRatio: 0.05,
    });
  });
});
