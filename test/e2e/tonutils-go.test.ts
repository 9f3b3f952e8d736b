import { createHash } from 'node:crypto';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';

import { createDemo, DEMO_DOMAIN } from '#service/devchain/demo/demo.ts';
import { createPrivateNetwork } from '#service/devchain/private-network.ts';
import { globalIdOf } from '#service/devchain/dev/startup-accounts.ts';
import { buildTonutils, travelWithTonutils } from '#test/service/devchain/tonutils.ts';
import { skipLoudly } from '#test/support/skips.ts';

const built = await buildTonutils('tonutils-journey');
const missing = 'missing' in built;

const seedOf = (version: string): string =>
  createHash('sha256').update(`tonplane demo wallet: ${version}`).digest('hex');

describe.skipIf(
  skipLoudly(missing, { what: 'wallets of tonutils-go on a private network', why: missing ? built.missing : '' }),
)('tonutils-go with its secure proof policy on a private network', () => {
  it('sends from a wallet v5, 250 messages from a highload wallet v3, moves an NFT and sets the site of a domain', async () => {
    const network = await createPrivateNetwork(
      { blockSeconds: 0.4 },
      { logger: pino({ level: 'silent' }), register: new Registry() },
    );
    onTestFinished(() => network.close());
    const demo = await createDemo(network);
    const receiver = `0:${'5a'.repeat(32)}`;
    const arrival = await travelWithTonutils('program' in built ? built.program : '', {
      config: network.globalConfig(),
      globalId: globalIdOf(network),
      v5Seed: seedOf('v5r1'),
      v4Seed: seedOf('v4r2'),
      collection: demo['NFT collection']!,
      item: 0,
      domain: `${DEMO_DOMAIN}.ton`,
      receiver,
      messages: 250,
    });
    expect(arrival).toEqual({
      v5Wallet: demo['wallet v5r1'],
      received: '700000000',
      reached: 250,
      owners: [demo['wallet v5r1'], receiver],
      records: [demo['wallet v4r2'], 'b0'.repeat(32)],
    });
  });
});
