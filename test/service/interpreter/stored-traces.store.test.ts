import { Registry } from 'prom-client';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

import type { TraceRow } from '#service/store/tables.ts';
import { createTraceMaterializer } from '#service/v3/rendering/trace-materializer.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { metric } from '../pool/network.ts';
import { startInterpreter, untilInterpreted, type InterpreterSettings } from './interpreter-under-test.ts';

let made: StoreUnderTest;
/** When the traces of the last part of the recording begin to end, in seconds. */
let sinceS: number;

beforeEach(async () => {
  await made?.close();
  made = await createRecordedIndex(import.meta.filename);
  const [row] = await made.store.read<{ utime: number }>(
    'SELECT end_utime AS utime FROM traces WHERE mc_seqno_end = 900',
  );
  sinceS = row!.utime;
});

afterAll(() => made.close());

/** An hour after those traces. */
const anHourLater = (): number => (sinceS + 3600) * 1000;

async function interpretAll(settings: InterpreterSettings): Promise<Registry> {
  const register = new Registry();
  const interpreter = startInterpreter(made.store, { register, unixMs: anHourLater, ...settings });
  await untilInterpreted(made.store);
  await interpreter.close();
  return register;
}

const idOf = ({ trace_id: id }: Pick<TraceRow, 'trace_id'>): string => Buffer.from(id).toString('hex');

const idsOf = async (sql: string): Promise<readonly string[]> =>
  (await made.store.read<{ trace_id: Buffer }>(`${sql} ORDER BY trace_id`)).map(idOf);

const complete = `FROM traces WHERE state = 0`;

describe('complete traces', () => {
  it('are stored once they are classified, if they ended within an hour', async () => {
    const given: TraceRow[] = [];
    let unreported = 0;
    await interpretAll({
      async storeTraces(traces) {
        given.push(...traces);
        const ids = traces.map((row) => row.trace_id);
        const classified = await made.store.read('SELECT FROM trace_classifications WHERE trace_id = ANY ($1)', [ids]);
        unreported += traces.length - classified.length;
        return traces.length;
      },
    });
    const expected = await idsOf(`SELECT trace_id ${complete} AND end_utime >= ${sinceS}`);
    expect(given.map(idOf).toSorted()).toEqual(expected);
    expect(unreported).toBe(0);
    const [older] = await made.store.read<{ count: bigint }>(`SELECT count(*) ${complete} AND end_utime < ${sinceS}`);
    expect(older!.count).toBeGreaterThan(100n);
    expect(expected.length).toBeGreaterThan(100);
  });

  it('lie stored in the index then, nearly all of them', async () => {
    const register = await interpretAll({ storeTraces: createTraceMaterializer({ store: made.store }).store });
    const stored = await idsOf('SELECT trace_id FROM written_traces');
    const recent = await idsOf(`SELECT trace_id ${complete} AND end_utime >= ${sinceS}`);
    expect(recent).toEqual(expect.arrayContaining([...stored]));
    expect(stored.length).toBeGreaterThan(recent.length * 0.8);
    expect(await metric(register, 'ton_interpreter_stored_traces_total')).toBe(stored.length);
  });

  it('are classified even if they cannot be stored', async () => {
    const register = await interpretAll({ storeTraces: () => Promise.reject(new Error('no room')) });
    expect(await metric(register, 'ton_interpreter_stored_traces_failures_total')).toBeGreaterThan(0);
    expect(await metric(register, 'ton_interpreter_stored_traces_total')).toBe(0);
    const [classified] = await made.store.read<{ count: bigint }>('SELECT count(*) FROM trace_classifications');
    expect(classified!.count).toBeGreaterThan(1000n);
  });
});
