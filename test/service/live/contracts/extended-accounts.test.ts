import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { parseAddress } from '#service/decode/address.ts';
import type { ParsedAddress } from '#service/decode/address.ts';
import { createDevchain } from '#service/devchain/devchain.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import type { LiveAccounts } from '#service/live/accounts/accounts.ts';
import { createExtendedAccounts } from '#service/live/contracts/extended-accounts.ts';
import type { LiveExtendedAccounts } from '#service/live/contracts/extended-accounts.ts';
import { createLiveAccounts } from '#service/live/accounts/live-accounts.ts';
import { createLiveConfiguration } from '#service/live/configuration/live-configuration.ts';
import { viewExtendedAccount } from '#service/v2/extended-accounts.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { openPool, patientTuning, until, within } from '#test/service/pool/network.ts';
import type { PoolUnderTest } from '#test/service/pool/network.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

type Exchange = {
  readonly note: string;
  readonly request: {
    readonly id?: { readonly seqno: number };
    readonly function?: { readonly '@type': string; readonly account_address: { readonly account_address: string } };
  };
  readonly response: {
    readonly '@type': string;
    readonly balance?: string;
    readonly account_state?: Record<string, unknown>;
  };
};

const recordings = recordingDirs().map((dir) => ({ dir, name: dir.split('/').at(-1)! }));
skipLoudly(recordings.length === 0, { what: 'extended accounts', why: 'no recorded network among the fixtures' });

describe.each(recordings)('accounts of the recorded network $name, as tonlib sees them', ({ dir }) => {
  const exchanges = readFileSync(join(dir, 'tonlib.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Exchange);
  let network: Devchain;
  let open: PoolUnderTest;
  let accounts: LiveAccounts;
  let extended: LiveExtendedAccounts;

  beforeAll(async () => {
    network = await createDevchain(
      { recordingDir: dir, paceSeconds: 0, servers: [{}, {}] },
      { logger: pino({ level: 'silent' }), register: new Registry(), chain: await recordedChain(dir) },
    );
    open = openPool(network, { tuning: patientTuning });
    const { pool } = open;
    accounts = createLiveAccounts({ trust: 'verified' }, { pool });
    extended = createExtendedAccounts({ accounts, configuration: createLiveConfiguration({ pool }) });
    await until(() => pool.head()?.block.seqno === network.chain.lastSeqno);
  });

  afterAll(async () => {
    await open.close();
    await network.close();
  });

  /** Questions of one kind about an account at a block. */
  function recorded(type: string) {
    const found = exchanges.filter(
      ({ request, response }) =>
        request.function?.['@type'] === type &&
        request.id!.seqno <= network.chain.lastSeqno &&
        response['@type'] !== 'error',
    );
    expect(found.length).toBeGreaterThan(0);
    return found.map(({ note, request, response }) => {
      const address: ParsedAddress = parseAddress(request.function!.account_address.account_address)!;
      return { note, address, seqno: request.id!.seqno, response };
    });
  }

  test('the full state of each, field by field', async () => {
    for (const { note, address, seqno, response } of recorded('getAccountState')) {
      const { value } = await extended.readExtended(address, seqno, within(60_000));
      const view = viewExtendedAccount(value, address);
      // Tonlib has 64-bit integers as strings, and -1 for the balance of an absent account.
      const balance = response.balance === '-1' ? '0' : response.balance;
      const state = Object.entries(response.account_state!).map(([name, field]) => [
        name,
        name === 'wallet_id' ? Number(field) : field,
      ]);
      const expected = { ...response, balance, account_state: Object.fromEntries(state) as object };
      expect({ note, view }).toEqual({ note, view: expected });
    }
  });

  test('the cell of each in its shard, byte for byte', async () => {
    for (const { note, address, seqno, response } of recorded('getShardAccountCell')) {
      const { value } = await accounts.readShardAccount(address, seqno, within(60_000));
      const view = { '@type': 'tvm.cell', bytes: value.toString('base64') };
      expect({ note, view }).toEqual({ note, view: response });
    }
  });
});
