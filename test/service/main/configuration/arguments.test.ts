import { describe, expect, it } from 'vitest';

import { ArgumentsError, parseArguments, usage } from '#service/main/configuration/arguments.ts';

describe('the command line', () => {
  it('runs a private network that is not kept when nothing is said', () => {
    const expected = { role: 'dev', data: '.tonplane', keepChain: false, recorded: false, blockTime: 1, demo: true };
    expect(parseArguments([])).toMatchObject({ ...expected, validators: undefined, port: undefined });
  });

  it.each([
    [['--manifest', 'a.yaml'], { role: 'api', manifest: 'a.yaml' }],
    [['api', '--manifest', 'a.yaml'], { role: 'api' }],
    [
      ['--network', 'testnet', '--global-config', 'g.json'],
      { role: 'api', network: 'testnet', globalConfig: 'g.json' },
    ],
    [['--port', '0', '--internal-port', '65535'], { role: 'dev', port: 0, internalPort: 65_535 }],
    [['--internal-name', 'a.example', '--internal-name', 'b'], { internalNames: ['a.example', 'b'] }],
    [['dev', '--pace', '0.25', '--data', 'd'], { role: 'dev', paceSeconds: 0.25, data: 'd' }],
    [['--recorded'], { recorded: true, paceSeconds: 1 }],
    [['--pace=0'], { paceSeconds: 0, recorded: true }],
    [['--recording', 'dir'], { recording: 'dir', recorded: true }],
    [['--data', 'dir'], { data: 'dir', keepChain: true }],
    [['--block-time', '0.4', '--validators', '100'], { blockTime: 0.4, validators: 100 }],
    [['--no-demo'], { demo: false }],
    [
      ['--fork', 'global.config.json@7', '--data', 'dir'],
      { fork: 'global.config.json@7', demo: false, keepChain: true },
    ],
    [['--block-time', 'on-demand'], { blockTime: 'on-demand' }],
    [['--no-index'], { index: false }],
    [['indexer', '--manifest', 'a.yaml', '--archive', 'packages'], { role: 'indexer', archive: 'packages' }],
    [['migrate', '--manifest', 'a.yaml'], { role: 'migrate', plan: false }],
    [['migrate', '--manifest', 'a.yaml', '--plan'], { role: 'migrate', plan: true }],
    [
      ['--postgres-url', 'postgres://a:b@c/d', '--start-seqno', '7'],
      { postgresUrl: 'postgres://a:b@c/d', startSeqno: 7 },
    ],
    [['--postgres-file', 'f', '--postgres-replica-file', 'r'], { postgresFile: 'f', postgresReplicaFile: 'r' }],
    [
      ['--redis-client-certificate-file', 'c', '--redis-client-key-file', 'k'],
      { redisClientFiles: { certificate: 'c', key: 'k' }, postgresClientFiles: undefined },
    ],
    [
      ['--postgres-client-certificate-file', 'c', '--postgres-client-key-file', 'k'],
      { redisClientFiles: undefined, postgresClientFiles: { certificate: 'c', key: 'k' } },
    ],
  ])('reads %j', (args, expected) => {
    expect(parseArguments(args)).toMatchObject(expected);
  });

  it.each([
    [['--port', '65536'], '--port: expected a number from 0 to 65535, got 65536'],
    [['--port', '8o'], '--port: expected a number from 0 to 65535, got 8o'],
    [['--port=-1'], '--port: expected a number from 0 to 65535, got -1'],
    [['--internal-name', 'a:8082'], '--internal-name: expected a host name without a port, got a:8082'],
    [['--pace', 'fast'], '--pace: expected seconds from 0 to 3600, got fast'],
    [['--network', 'mainnet'], '--network and --global-config: expected both, or neither'],
    [['--network', 'moon', '--global-config', 'g'], '--network: expected mainnet, testnet, got moon'],
    [['--log-level', 'loud'], '--log-level: expected debug, info, warn, error, got loud'],
    [['serve'], 'expected at most one role (dev, api, streaming, indexer, metadata, migrate), got serve'],
    [['indexer'], 'indexer: expected --manifest FILE or --network NAME --global-config FILE'],
    [['migrate'], 'migrate: expected --manifest FILE or --network NAME --global-config FILE'],
    [['api'], 'api: expected --manifest FILE or --network NAME --global-config FILE'],
    [['--block-time', '0.39'], '--block-time: expected seconds from 0.4 to 5, on-demand or manual, got 0.39'],
    [['--block-time', '5.1'], '--block-time: expected seconds from 0.4 to 5, on-demand or manual, got 5.1'],
    [['--start-seqno', '0'], '--start-seqno: expected a number from 1 to 2147483647, got 0'],
    [
      ['--postgres-url', 'mysql://user:secret@host/d'],
      '--postgres-url: expected postgres://user:password@host:port/database, got mysql://',
    ],
    [
      ['--postgres-url', 'secret'],
      '--postgres-url: expected postgres://user:password@host:port/database, got something else',
    ],
    [['--validators', '0'], '--validators: expected a number from 1 to 100, got 0'],
    [
      ['--recorded', '--validators', '4'],
      '--validators: expected only for a private network, without --recorded, --recording, --pace, --manifest, --network',
    ],
    [
      ['--postgres-client-key-file', 'k'],
      '--postgres-client-certificate-file, --postgres-client-key-file: expected both, or neither',
    ],
    [
      ['--redis-client-certificate-file', 'c'],
      '--redis-client-certificate-file, --redis-client-key-file: expected both, or neither',
    ],
    [['dev', '--manifest', 'a'], 'dev: expected no --manifest and no --network, because dev runs its own network'],
    [
      ['--network', 'mainnet', '--manifest', 'a'],
      '--network: expected only without --manifest, because the manifest names the network',
    ],
  ])('refuses %j and says what was expected', (args, message) => {
    expect(() => parseArguments(args)).toThrow(expect.objectContaining({ code: 'usage', message }));
  });

  it('refuses an option it does not know by name', () => {
    expect(() => parseArguments(['--prot', '1'])).toThrow(/--prot/);
  });

  it('explains every option when asked', () => {
    expect(() => parseArguments(['--help'])).toThrow(ArgumentsError);
    expect(() => parseArguments(['-h'])).toThrow(expect.objectContaining({ code: 'help', message: usage }));
  });
});
