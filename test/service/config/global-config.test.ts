import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { configFromGlobalConfig, configFromManifest } from '#service/config.ts';
import { ConfigError } from '#service/config/errors.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';

import { key, manifestOf } from './manifest-builder.ts';

type Fields = Record<string, unknown>;

const otherHash = Buffer.alloc(32, 9).toString('base64');

function blockOf(seqno: number, rootHash = key): Fields {
  return { workchain: -1, shard: -9223372036854775808, seqno, root_hash: rootHash, file_hash: key };
}

/** Returns a `global.config.json` of one lite server; `change` may edit it in any way. */
function globalConfigOf(change: (config: Fields, validator: Fields) => void = () => {}): string {
  const validator: Fields = { zero_state: blockOf(0), init_block: blockOf(100), hardforks: [] };
  const config: Fields = {
    '@type': 'config.global',
    liteservers: [{ ip: 84_478_511, port: 19_949, id: { '@type': 'pub.ed25519', key } }],
    validator,
  };
  change(config, validator);
  return JSON.stringify(config);
}

function serversOf(list: unknown, name = 'liteservers'): string[] {
  const text = globalConfigOf((config) => {
    if (name !== 'liteservers') delete config['liteservers'];
    config[name] = list;
  });
  return configFromGlobalConfig(text, 'mainnet').liteServers.map(({ host, port }) => `${host} ${port}`);
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

function simpleSlice(shards: unknown): Fields {
  return { '@type': 'liteserver.descV2.sliceSimple', shards };
}

const id = { '@type': 'pub.ed25519', key };

const half = { workchain: 0, shard: '4611686018427387904' };
const place = (shard: Fields, seqno: number): Fields => ({
  shard_id: shard,
  seqno,
  utime: seqno * 3,
  lt: `${seqno}000`,
});
const timed = (from: Fields[], to: Fields[]): Fields => ({
  '@type': 'liteserver.descV2.sliceTimed',
  shards_from: from,
  shards_to: to,
});
const masterchain = { workchain: -1, shard: -9223372036854775808 };
const masterchainPlace = { workchain: -1, shard: 1n << 63n, seqno: 0, utime: 0, lt: 0n };
const slicesOf = (...lists: unknown[]) => {
  const servers = lists.map((slices, index) => ({
    ip: 1,
    port: index + 1,
    id,
    ...(slices !== undefined && { slices }),
  }));
  const text = globalConfigOf((config) => void (config['liteservers_v2'] = servers));
  return configFromGlobalConfig(text, 'mainnet')
    .liteServers.slice(1)
    .map(({ port, slices }) => [port, slices]);
};

describe('a global config', () => {
  it.each(fixtureFiles(/global\.config\.json$/))(
    'the global config recorded in %s gives lite servers and anchors',
    (file) => {
      const config = configFromGlobalConfig(readFileSync(file, 'utf8'), 'custom');
      expect(config.liteServers.length).toBeGreaterThan(0);
      expect(config.anchors?.zeroState).toMatchObject({ workchain: -1, shard: 0x8000000000000000n, seqno: 0 });
      expect(config.trust).toBe('verified');
    },
  );

  it.each([
    [2_130_706_433, '127.0.0.1'],
    [-1, '255.255.255.255'],
    [-2_147_483_648, '128.0.0.0'],
    [84_478_511, '5.9.10.47'],
    [4_294_967_295, '255.255.255.255'],
  ])('the address %d is spelled %s', (ip, host) => {
    expect(serversOf([{ ip, port: 1, id }])).toEqual([`${host} 1`]);
  });

  it.each([
    ['ls.example:443', 0, 'ls.example 443'],
    ['ls.example', 4443, 'ls.example 4443'],
    ['[2001:db8::1]:443', 0, '2001:db8::1 443'],
  ])('the host name %s is preferred to the address', (hostname, port, expected) => {
    expect(serversOf([{ ip: 1, port, hostname, id }], 'liteservers_v2')).toEqual([expected]);
  });

  describe('with liteservers_v2', () => {
    it('each lite server has its slices, or null if it has the whole chain', () => {
      const range = timed([place(masterchain, 10), place(half, 20)], [place(masterchain, 30)]);
      expect(
        slicesOf(undefined, [], [simpleSlice([])], [range, simpleSlice([])], [simpleSlice([half])], [range]),
      ).toEqual([
        [1, null],
        [2, null],
        [3, null],
        [4, null],
        [5, [{ from: [masterchainPlace, { ...masterchainPlace, workchain: 0, shard: 1n << 62n }], to: [] }]],
        [
          6,
          [
            {
              from: [
                { ...masterchainPlace, seqno: 10, utime: 30, lt: 10_000n },
                { workchain: 0, shard: 1n << 62n, seqno: 20, utime: 60, lt: 20_000n },
              ],
              to: [{ ...masterchainPlace, seqno: 30, utime: 90, lt: 30_000n }],
            },
          ],
        ],
      ]);
    });

    it('a lite server is left out if none of its slices has a known form', () => {
      expect(
        slicesOf([{ '@type': 'liteserver.descV2.sliceOther' }], [timed([], [])], [timed([], []), simpleSlice([half])]),
      ).toEqual([[3, [expect.objectContaining({ to: [] })]]]);
    });

    it.each<[string, unknown]>([
      ['liteservers_v2[0].slices: expected a list of at most 64 slices', {}],
      ['liteservers_v2[0].slices[0].shards: expected a list of at most 1024 shards', [simpleSlice({})]],
      ['liteservers_v2[0].slices[0].shards[0]: expected a workchain and a shard', [simpleSlice([{ workchain: 0 }])]],
      ['liteservers_v2[0].slices[0].shards_from[0].shard_id: expected a workchain and a shard', [timed([{}], [])]],
      [
        'liteservers_v2[0].slices[0].shards_to[0].seqno: expected a whole number, got "x"',
        [timed([], [{ ...place(half, 1), seqno: 'x' }])],
      ],
    ])('a global config is refused with %s', (problem, slices) => {
      expect(messageOf(() => slicesOf(slices))).toContain(problem);
    });

    it('at least one lite server must have the newest blocks', () => {
      const past = [timed([place(masterchain, 1)], [place(masterchain, 2)])];
      const text = globalConfigOf((config) => {
        delete config['liteservers'];
        config['liteservers_v2'] = [{ ip: 1, port: 1, id, slices: past }];
      });
      expect(messageOf(() => configFromGlobalConfig(text, 'mainnet'))).toContain(
        'liteservers: expected a lite server that has the newest blocks, got only lite servers with slices of the past',
      );
    });
  });

  it.each([
    ['a signed number', '-9223372036854775808'],
    ['an unsigned number', '9223372036854775808'],
    ['a number that another reader has rounded', '-9223372036854776000'],
    ['signed text', '"-9223372036854775808"'],
    ['unsigned text', '"9223372036854775808"'],
    ['hexadecimal text', '"0x8000000000000000"'],
  ])('the full shard is read from %s', (_form, shard) => {
    const text = globalConfigOf().replaceAll('-9223372036854776000', shard);
    expect(text).toContain(`"shard":${shard}`);
    expect(configFromGlobalConfig(text, 'mainnet').anchors?.initBlock.shard).toBe(0x8000000000000000n);
  });

  it.each([
    ['the init block', () => {}, 100],
    [
      'a hard fork above it',
      (validator: Fields) => void (validator['hardforks'] = [blockOf(90), blockOf(300), blockOf(200)]),
      300,
    ],
    ['no hard fork below it', (validator: Fields) => void (validator['hardforks'] = [blockOf(99)]), 100],
    ['the zero state without one', (validator: Fields) => delete validator['init_block'], 0],
    ['the zero state for an empty one', (validator: Fields) => void (validator['init_block'] = {}), 0],
  ])('trust is anchored at %s', (_what, change, seqno) => {
    const text = globalConfigOf((_config, validator) => void change(validator));
    expect(configFromGlobalConfig(text, 'mainnet').anchors?.initBlock.seqno).toBe(seqno);
  });

  it.each<[string, Parameters<typeof globalConfigOf>[0]]>([
    ['liteservers: expected 1 to 256 lite servers, got 0', (config) => delete config['liteservers']],
    ['liteservers: expected an array', (config) => void (config['liteservers'] = {})],
    ['liteservers[0]: expected an object', (config) => void (config['liteservers'] = [1])],
    [
      'liteservers[0].port: expected a whole number from 1 to 65535, got 0',
      (config) => void (config['liteservers'] = [{ ip: 1, port: 0, id }]),
    ],
    [
      'liteservers[0].id.key: expected base64 of 32 bytes',
      (config) => void (config['liteservers'] = [{ ip: 1, port: 1, id: { key: 'AA==' } }]),
    ],
    [
      'liteservers[0].ip: expected a signed 32-bit integer, or a hostname, got 4294967296',
      (config) => void (config['liteservers'] = [{ ip: 2 ** 32, port: 1, id }]),
    ],
    ['validator.zero_state: expected a block id, got nothing', (config) => delete config['validator']],
    [
      'validator.zero_state: expected a block, because init_block is set',
      (_config, validator) => delete validator['zero_state'],
    ],
    [
      'validator.zero_state.seqno: expected 0, got 7',
      (_config, validator) => void (validator['zero_state'] = blockOf(7)),
    ],
    [
      'validator.init_block.workchain: expected -1, got 0',
      (_config, validator) => void (validator['init_block'] = { ...blockOf(1), workchain: 0 }),
    ],
    [
      'validator.init_block.shard: expected -9223372036854775808, got 5',
      (_config, validator) => void (validator['init_block'] = { ...blockOf(1), shard: 5 }),
    ],
    [
      'validator.init_block.seqno: expected a whole number below 2^31, got -1',
      (_config, validator) => void (validator['init_block'] = blockOf(-1)),
    ],
    [
      'validator.init_block.root_hash: expected base64 of 32 bytes',
      (_config, validator) => void (validator['init_block'] = blockOf(1, 'x')),
    ],
    ['validator.hardforks: expected an array', (_config, validator) => void (validator['hardforks'] = {})],
    ['validator.hardforks[0]: expected a block id', (_config, validator) => void (validator['hardforks'] = [null])],
  ])('a global config is refused: %s', (line, change) => {
    expect(messageOf(() => configFromGlobalConfig(globalConfigOf(change), 'mainnet')).split('\n')).toContain(
      `global config ${line}`,
    );
  });

  it.each([
    ['', 'expected JSON'],
    ['{"a": 1,, }', 'expected JSON, got an error at position 8'],
    ['[]', 'expected a JSON object'],
    [`"${'x'.repeat(4 * 1024 * 1024)}"`, 'expected at most 4194304 bytes'],
  ])('a global config is refused when it is %.20s', (text, message) => {
    expect(messageOf(() => configFromGlobalConfig(text, 'mainnet'))).toBe(`global config: ${message}`);
  });

  it('the default plans give 1 request a second without a key and no limit with one', () => {
    const { plans, anonymousPlan } = configFromGlobalConfig(globalConfigOf(), 'mainnet');
    expect(plans.map(({ name, requestsPerSecond }) => [name, requestsPerSecond])).toEqual([
      ['anonymous', 1],
      ['unlimited', 0],
    ]);
    expect(anonymousPlan).toBe('anonymous');
  });
});

describe('a manifest that refers to a global config', () => {
  const referring = manifestOf((spec) => {
    delete spec['liteServers'];
    delete spec['zeroState'];
    spec['liteServerConfigRef'] = { name: 'net' };
  });
  const beside = (document: Fields): string =>
    `${referring}---\n${stringify({ metadata: { name: 'net' }, ...document })}`;
  const base64 = Buffer.from(globalConfigOf()).toString('base64');

  it.each<[string, string]>([
    ['a ConfigMap', beside({ kind: 'ConfigMap', data: { 'global.config.json': globalConfigOf() } })],
    ['a ConfigMap of bytes', beside({ kind: 'ConfigMap', binaryData: { 'global.config.json': base64 } })],
    [
      'a Secret',
      beside({ kind: 'Secret', data: { 'global.config.json': base64 } }).replace(
        'name: net',
        'kind: Secret\n    name: net',
      ),
    ],
    [
      'a Secret in plain',
      beside({ kind: 'Secret', stringData: { 'global.config.json': globalConfigOf() } }).replace(
        'name: net',
        'kind: Secret\n    name: net',
      ),
    ],
  ])('the global config is found in %s of the same file', (_what, text) => {
    const config = configFromManifest(text);
    expect(config.liteServers).toMatchObject([{ name: 'ls-0', host: '5.9.10.47', port: 19_949 }]);
    expect(config.anchors?.initBlock.seqno).toBe(100);
  });

  it('the global config is found in the file given for it', () => {
    expect(configFromManifest(referring, { globalConfig: globalConfigOf() }).anchors?.initBlock.seqno).toBe(100);
  });

  it("the manifest's own anchors override those of the global config", () => {
    const text = referring.replace('spec:', `spec:\n  zeroState: {rootHash: ${otherHash}, fileHash: ${key}}`);
    const { anchors } = configFromManifest(text, { globalConfig: globalConfigOf() });
    expect(anchors?.initBlock.rootHash).toEqual(Buffer.alloc(32, 9));
  });

  it('a manifest with its own lite servers takes only the anchors of the global config', () => {
    const text = manifestOf((spec) => delete spec['zeroState']);
    const config = configFromManifest(text, { globalConfig: globalConfigOf() });
    expect(config.liteServers.map(({ name }) => name)).toEqual(['a']);
    expect(config.anchors?.initBlock.seqno).toBe(100);
  });

  it.each([
    [
      'it is nowhere',
      referring,
      'spec.liteServerConfigRef: expected --global-config FILE, or a ConfigMap net with key global.config.json in the same file, got neither',
    ],
    [
      'it has another key',
      beside({ kind: 'ConfigMap', data: { other: '{}' } }),
      'spec.liteServerConfigRef: expected --global-config FILE, or a ConfigMap net with key global.config.json in the same file, got neither',
    ],
    [
      'it is no JSON',
      beside({ kind: 'ConfigMap', data: { 'global.config.json': 'x' } }),
      'spec.liteServerConfigRef (global.config.json): expected JSON',
    ],
    [
      'a field of it is wrong',
      beside({
        kind: 'ConfigMap',
        data: { 'global.config.json': globalConfigOf((config) => void (config['liteservers'] = 1)) },
      }),
      'spec.liteServerConfigRef (global.config.json) liteservers: expected an array',
    ],
    [
      'it has no zero state',
      beside({
        kind: 'ConfigMap',
        data: { 'global.config.json': globalConfigOf((config) => delete config['validator']) },
      }),
      'spec.zeroState: expected rootHash and fileHash, or a validator.zero_state in the referenced global config, got nothing',
    ],
  ])('a manifest is refused when %s', (_what, text, message) => {
    expect(messageOf(() => configFromManifest(text))).toBe(message);
  });
});
