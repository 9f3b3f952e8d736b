import { beginCell, Cell, type Builder } from '@ton/core';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ReadContext } from '#service/contract/answer.ts';
import { createDetector, type ChangedAccount, type Detected } from '#service/interfaces/detector.ts';
import { createResilientDetector } from '#service/interpreter/resilient-detector.ts';
import { isFinal, type Stage } from '#service/interpreter/retrying.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { createRetry } from '#service/runtime/retry.ts';
import { TvmError } from '#service/tvm/errors.ts';
import { methodIdOf } from '#service/tvm/method-id.ts';
import { accountNumber } from '#test/service/interfaces/scripted-world.ts';
import { startTvm } from '#test/service/tvm/recorded-world.ts';
import { smallConfig } from '#test/service/tvm/small-world.ts';
import { metric } from '../pool/network.ts';

const ACCOUNTS = 20;

/** Most gas that an account without an end may take, with the instruction that exceeds the limit. */
const GAS_MAX = 300_100;

/** Methods of the account without an end: one of each kind that is common. */
const methods = ['get_wallet_data', 'get_jetton_data', 'get_nft_data', 'get_collection_data'];

const fromHex = (hex: string): Builder => beginCell().storeBuffer(Buffer.from(hex, 'hex'));

/** `while (-1) {}`: `PUSHCONT { PUSHINT -1 } PUSHCONT { } WHILE`. */
const endless = fromHex('917f90e8').endCell();

/** A jetton master that turns some thousand times before it answers: `PUSHINT 7500 PUSHCONT { NOP } REPEAT`, then five entries. */
const laborious = fromHex('30811d4c9100e4757f898888')
  .storeRef(beginCell().storeUint(0, 2).endCell())
  .storeRef(beginCell().storeUint(1, 8).storeStringTail('https://a.example').endCell())
  .storeRef(Cell.EMPTY)
  .endCell();

const honest = accountNumber(0xff);
const { tvm, register } = startTvm({ wallTimeMs: 2_000 });
const failures: Stage[] = [];
const givenUp: unknown[] = [];
const contexts: ReadContext[] = [];
let found: readonly (Detected | undefined)[];

function view(account: AccountId) {
  const code = account.id.equals(honest.id) ? laborious : endless;
  const hashes = { codeHash: code.hash(), dataHash: Cell.EMPTY.hash(), stateHash: account.id };
  return { account, code: code.toBoc(), data: Cell.EMPTY.toBoc(), ...hashes, lastTransaction: { lt: 7n } };
}

/** Opens a block in which one account is a jetton, and all others have no end. */
async function open(_seqno: number | undefined, context: ReadContext): Promise<ChainSnapshot> {
  contexts.push(context);
  const { getMethods, signal, caller = '' } = context;
  const world = { config: smallConfig(), randSeed: Buffer.alloc(32), utime: 1, signal, caller, ...getMethods };
  return {
    readAccount: async (account: AccountId) => view(account),
    runMethods: async ({ account, ...calls }: Parameters<ChainSnapshot['runMethods']>[0]) => {
      const { code, data } = view(account);
      const results = await tvm.runGetMethods({ ...world, ...calls, address: account, code, data, balance: 1n });
      return { account: view(account), runs: results.map((one) => (one instanceof TvmError ? undefined : one)) };
    },
  } as unknown as ChainSnapshot;
}

const noteFailure = (stage: Stage): void => void failures.push(stage);

beforeAll(async () => {
  const logger = pino({ level: 'silent' });
  const finder = createResilientDetector({
    worlds: { open },
    detector: createDetector({ network: 'mainnet' }, { register: new Registry() }),
    retry: createRetry<Stage>({ logger, random: () => 0, unixMs: () => 0, onFailure: noteFailure, isFinal }),
    now: () => performance.now(),
    onFallback: () => undefined,
    onGivenUp: (_account, error) => void givenUp.push(error),
  });
  const { signal } = new AbortController();
  const hostile = Array.from({ length: ACCOUNTS }, (_, index) => accountNumber(index + 1));
  const changes: ChangedAccount[] = [
    ...hostile.map((account) => ({ account, codeHash: endless.hash(), methods: methods.map(methodIdOf) })),
    { account: honest, codeHash: laborious.hash(), methods: [methodIdOf('get_jetton_data')] },
  ];
  found = await Promise.all(changes.map((change) => finder.detect(7, change, signal)));
});
afterAll(() => tvm.close());

describe('a block with accounts whose get-methods never end', () => {
  it('costs no more gas than the bound of each account', async () => {
    expect(await metric(register, 'ton_tvm_gas_total')).toBeLessThanOrEqual((ACCOUNTS + 1) * GAS_MAX);
  });

  it('is done without a second try, and ends no thread of the emulator', async () => {
    expect(failures).toEqual([]);
    expect(givenUp).toEqual([]);
    expect(contexts).toHaveLength(ACCOUNTS + 1);
    expect(await metric(register, 'ton_tvm_thread_starts_total', { reason: 'timeout' })).toBe(0);
  });

  it('has no token in them', () => {
    expect(found.slice(0, ACCOUNTS)).toEqual(Array.from({ length: ACCOUNTS }, () => ({ facts: {}, lastTransLt: 7n })));
  });

  it('has the jetton whose methods use half of the bound', () => {
    expect(found.at(-1)?.jettonMaster).toMatchObject({ total_supply: 5n });
  });
});

it('A detection waits for a run far longer than its gas takes, so that a slow machine loses no token', () => {
  expect(contexts[0]?.getMethods).toEqual({ payer: 'interpreter', wallMs: 10_000 });
});
