import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { startInterpreter, untilInterpreted } from './interpreter-under-test.ts';

let made: StoreUnderTest;

beforeAll(async () => {
  made = await createRecordedIndex(import.meta.filename);
}, 120_000);

afterAll(() => made.close());

describe('the recorded chain', () => {
  it('is told trace by trace, also where nothing is known of its accounts', async () => {
    const { store } = made;
    const interpreter = startInterpreter(store);
    await untilInterpreted(store);
    await interpreter.close();
    expect(interpreter.status()).toMatchObject({ claimed: [], troubles: [] });
    const [counts] = await store.read<Record<string, bigint>>(
      `SELECT count(*) AS traces, count(c.trace_id) AS classified, count(*) FILTER (WHERE c.state = 2) AS ok
       FROM traces t LEFT JOIN trace_classifications c USING (trace_id)`,
    );
    expect(counts).toEqual({ traces: 5283n, classified: 5283n, ok: 5283n });
    const types = await store.read<{ type: string }>('SELECT DISTINCT type FROM actions ORDER BY type');
    expect(types.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['call_contract', 'contract_deploy', 'change_dns', 'election_recover', 'ton_transfer']),
    );
  }, 120_000);
});
