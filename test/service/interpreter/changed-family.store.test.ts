import { afterAll, beforeAll, expect, test } from 'vitest';

import { interpretationVersions, type InterpretationVersions } from '#service/interpreter/options.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { openRecordedNetwork, type RecordedNetwork } from '../indexer/recorded-network.ts';
import { meaningHashes } from '../indexer/table-hashes.ts';
import { lookInto, type LookInto } from './interpreted-network.ts';
import { startInterpreter, untilInterpreted } from './interpreter-under-test.ts';

/** `transfer` of a jetton wallet. */
const transferOpcode = 0x0f8a7ea5;

const version = interpretationVersions.newest + 1;

/** Versions of an interpreter in which a family of this opcode has changed. */
const changed: InterpretationVersions = {
  ...interpretationVersions,
  newest: version,
  partial: [...interpretationVersions.partial, { version, opcodes: [transferOpcode] }],
};

let network: RecordedNetwork;
let looks: LookInto;
let classified: StoreUnderTest;

beforeAll(async () => {
  network = await openRecordedNetwork(import.meta.filename);
  looks = lookInto(network.pool);
  classified = await createClassifiedIndex(import.meta.filename);
}, 360_000);

afterAll(async () => {
  await looks.close();
  await network.close();
  await classified.close();
});

const seqnosOf = async (sql: string, values: readonly unknown[] = []): Promise<readonly number[]> =>
  (await classified.store.read<{ seqno: number }>(sql, values)).map(({ seqno }) => seqno);

test('A changed family interprets the blocks that have its opcodes again, also for traces without an action, and no other', async () => {
  const { store } = classified;
  const before = await meaningHashes(store);
  const concerned = await seqnosOf(
    `SELECT DISTINCT mc_seqno_end AS seqno FROM traces JOIN transactions USING (trace_id) WHERE in_opcode = $1 ORDER BY 1`,
    [transferOpcode],
  );
  const [{ count }] = (await store.read<{ count: bigint }>('SELECT count(*) FROM interpretations', [])) as [
    { count: bigint },
  ];
  expect(concerned.length).toBeGreaterThan(0);
  expect(concerned.length).toBeLessThan(Number(count) / 2);

  // The earlier version knew no action of the family.
  await store.transaction(async ({ query }) => {
    await query('CREATE TABLE claims_before AS SELECT mc_seqno, claim FROM interpretations');
    await query(`CREATE TABLE lost AS SELECT DISTINCT trace_id FROM transactions WHERE in_opcode = ${transferOpcode}`);
    await query('DELETE FROM actions WHERE trace_id IN (SELECT trace_id FROM lost)');
    await query('DELETE FROM action_accounts WHERE trace_id IN (SELECT trace_id FROM lost)');
  });
  expect(await meaningHashes(store)).not.toEqual(before);

  const interpreter = startInterpreter(store, {
    worlds: looks.worlds,
    detector: looks.newDetector(),
    versions: changed,
    tuning: { againMax: 40, blocksMax: 8 },
  });
  await untilInterpreted(store, version, 240_000);
  await interpreter.close();

  const claimed = await seqnosOf(
    `SELECT now.mc_seqno AS seqno FROM interpretations now JOIN claims_before USING (mc_seqno)
     WHERE now.claim > claims_before.claim ORDER BY 1`,
  );
  expect(claimed).toEqual(concerned);
  expect(await seqnosOf('SELECT DISTINCT version AS seqno FROM interpretations')).toEqual([version]);
  expect(await meaningHashes(store)).toEqual(before);
}, 360_000);
