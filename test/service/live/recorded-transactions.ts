import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createDevchain } from '#service/devchain/devchain.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { createLiveAccounts } from '#service/live/accounts/live-accounts.ts';
import { createLiveBlocks } from '#service/live/blocks/live-blocks.ts';
import { createLiveTransactions } from '#service/live/transactions/live-transactions.ts';
import type { LiveTransactions } from '#service/live/transactions/transactions.ts';
import type { Pool } from '#service/pool/pool.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { openPool, patientTuning, until } from '../pool/network.ts';
import type { PoolUnderTest } from '../pool/network.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

/** Transactions over a recorded network whose last block is the head. */
export type TransactionsUnderTest = {
  readonly network: Devchain;
  readonly open: PoolUnderTest;
  readonly live: LiveTransactions;
  readonly close: () => Promise<void>;
};

export async function startTransactions(
  recordingDir: string,
  options: { servers?: number; quick?: boolean } = {},
): Promise<TransactionsUnderTest> {
  const network = await createDevchain(
    { recordingDir, paceSeconds: 0, servers: Array.from({ length: options.servers ?? 2 }, () => ({})) },
    { logger: pino({ level: 'silent' }), register: new Registry(), chain: await recordedChain(recordingDir) },
  );
  // No second query because the machine is busy: queries are counted.
  const open = openPool(network, options.quick === true ? {} : { tuning: patientTuning });
  const { live, close } = makeTransactions(open.pool);
  await until(() => open.pool.head()?.block.seqno === network.chain.lastSeqno);
  return {
    network,
    open,
    live,
    async close() {
      await open.close();
      await close();
      await network.close();
    },
  };
}

/** The family as the service wires it. */
export function makeTransactions(pool: Pool): { live: LiveTransactions; close: () => Promise<void> } {
  const signatures = createSignatureChecker({}, { register: new Registry(), logger: pino({ level: 'silent' }) });
  const accounts = createLiveAccounts({ trust: 'verified' }, { pool });
  const blocks = createLiveBlocks({ pool, signatures, toUnixMs: (poolMs) => performance.timeOrigin + poolMs });
  return { live: createLiveTransactions({ pool, accounts, blocks }), close: () => signatures.close() };
}

/** Lines of a recorded file of JSON objects. */
export function readLines<T>(dir: string, file: string): T[] {
  return readFileSync(join(dir, file), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}
