import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { OpenApi } from '#test/service/http/reference.ts';
import { countOf } from '#test/support/volume.ts';
import { createDraw, oneOf, type Draw } from '#test/support/draw.ts';
import { recordedRows } from '#test/support/recorded-index.ts';
import { startV3UnderTest, type V3UnderTest } from '#test/support/v3-service.ts';

const requests = countOf({ quick: 500, full: 10_000 });

/** Beside each other: more than the store has connections, so that some wait. */
const callers = 12;

const budgetMs = 240_000;

type Parameter = { readonly name: string; readonly in: string; readonly schema: { readonly type?: string } };

let service: V3UnderTest;
let operations: { readonly path: string; readonly parameters: readonly Parameter[] }[] = [];
let values: Readonly<Record<string, readonly string[]>> = {};

beforeAll(async () => {
  service = await startV3UnderTest(import.meta.filename, { requestTimeoutMs: 10_000 });
  const { paths } = (await (await fetch(`${service.api.api.url}/api/v3/openapi.json`)).json()) as OpenApi;
  operations = Object.entries(paths).flatMap(([path, { get }]) =>
    get === undefined
      ? []
      : [{ path, parameters: (get['parameters'] as Parameter[]).filter((one) => one.in === 'query') }],
  );
  values = await readValues();
});
afterAll(() => service.close());

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Values that the recorded chain has, by what they are. */
async function readValues(): Promise<Record<string, readonly string[]>> {
  const rows = (await recordedRows()).filter((_one, at) => at % 29 === 0);
  const transactions = rows.flatMap((one) => one.transactions);
  const messages = rows.flatMap((one) => one.messages);
  const blocks = rows.flatMap((one) => one.blocks);
  const accounts = transactions.map(({ account }) => `${account[0]! - 128}:${hexOf(account.subarray(1))}`);
  return {
    hash: [...transactions, ...messages].map(({ hash }) => base64(hash)),
    account: accounts,
    lt: transactions.map(({ lt }) => lt.toString()),
    utime: blocks.map(({ gen_utime: at }) => at.toString()),
    seqno: blocks.map(({ seqno }) => seqno.toString()),
    shard: blocks.map(({ shard }) => BigInt.asUintN(64, shard).toString(16)),
    workchain: ['-1', '0', '1'],
    opcode: messages.flatMap(({ opcode }) => (opcode === null ? [] : [`0x${(opcode >>> 0).toString(16)}`])),
    limit: ['1', '2', '10', '20', '100', '1001', '-1', 'ten'],
    offset: ['0', '1', '100', '100000', '9007199254740993'],
    sort: ['asc', 'desc', 'ASC', 'up'],
    direction: ['in', 'out', 'both'],
    flag: ['true', 'false', '1', 'yes'],
    type: ['ton_transfer', 'v1', 'latest', 'nft.v3', 'jetton_swap', 'no_such_type'],
    cursor: cursors,
  };
}

/** Places in lists as answers tell them, with values that no row has. */
const cursors = [
  ['transactions lt.desc account.asc', ['9223372036854775807', '']],
  ['transactions lt.desc account.asc', ['-9223372036854775808', 'AAAA']],
  ['transactions lt.asc account.asc', ['1', 'not base64']],
  ['messages created_lt.desc hash.desc', [null, 'AAAA']],
  ['messages created_lt.asc hash.asc', [null, 'AAAA']],
  ['traces end_lt.desc trace_id.desc', ['9223372036854775808', 'AAAA']],
  ['blocks gen_utime.desc workchain.asc shard.asc seqno.asc', [2_147_483_647, -1, '-9223372036854775808', 0.5]],
  ['blocks gen_utime.desc workchain.asc shard.asc seqno.asc', [2_147_483_648, 0, '0', 0]],
  ['actions trace_end_lt.desc trace_id.desc end_lt.desc action_id.desc', ['5', 'AAAA', '5', 'AAAA']],
  ['actions trace_end_lt.desc trace_id.desc end_lt.desc action_id.desc', ['5', null, {}, []]],
].map(([order, position]) => Buffer.from(JSON.stringify([1, order, position])).toString('base64url'));

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** Which values a parameter is given. */
const kinds: readonly (readonly [name: RegExp, kind: string])[] = [
  [/^(account|exclude_account|source|destination|wallet)$|address$/, 'account'],
  [/hash|trace_id|^id$/, 'hash'],
  [/(_lt|^lt)$/, 'lt'],
  [/utime/, 'utime'],
  [/seqno/, 'seqno'],
  [/^(shard|workchain|limit|offset|sort|direction)$/, ''],
  [/opcode/, 'opcode'],
  [/action_type/, 'type'],
  [/^cursor$/, 'cursor'],
];

const noise = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  '0x',
  '1e400',
  '9'.repeat(400),
  'A'.repeat(44),
  `${'A'.repeat(43)}=`,
  '\u0000',
  '\u{1F4A9}',
  '%00',
  "' OR 1=1 --",
  '0:0',
  'a,b',
  ',',
  '18446744073709551616',
  '-9223372036854775809',
  'te6cckEBAQEAAgAAAEysuc0=',
];

function drawValue(draw: Draw, { name, schema }: Parameter): string {
  const kind = schema.type === 'boolean' ? 'flag' : (kinds.find(([pattern]) => pattern.test(name))?.[1] ?? 'hash');
  return draw(12) === 0 ? oneOf(draw, noise) : oneOf(draw, values[kind || name]!);
}

function drawPath(draw: Draw): string {
  const { path, parameters } = oneOf(draw, operations);
  const query = new URLSearchParams();
  for (let left = draw(5); left > 0 && parameters.length > 0; left--) {
    const parameter = oneOf(draw, parameters);
    const times = draw(8) === 0 ? 3 : 1;
    for (let time = 0; time < times; time++) query.append(parameter.name, drawValue(draw, parameter));
  }
  // Whole pages are megabytes: the writing of them is not what is tested.
  if (!query.has('limit') && parameters.some(({ name }) => name === 'limit')) query.append('limit', '5');
  if (draw(20) === 0) query.append('x_timeout', oneOf(draw, ['3000', '0', '-5', 'x', '99999']));
  return `${draw(30) === 0 ? path.toUpperCase() : path}?${query.toString()}`;
}

describe(`${requests} random queries over all operations of v3`, () => {
  it(
    'are each answered with JSON, none by a fault of the service, none over the time of a statement',
    async () => {
      const draw = createDraw(20_261_121);
      const flaws = new Map<string, string>();
      const statuses = new Map<number, number>();
      const late: string[] = [];
      let left = requests;
      const caller = async (): Promise<void> => {
        while (left-- > 0) {
          const path = drawPath(draw);
          const { status, text } = await ask(path);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          const flaw = flawOf(status, text);
          if (flaw === undefined) continue;
          if (overload.has(status)) late.push(path);
          else flaws.set(flaw, path);
        }
      };
      await Promise.all(Array.from({ length: callers }, caller));
      expect([...flaws]).toEqual([]);
      // A machine that does much else may be late for so many at once: what is slow by itself is slow alone, too.
      for (const path of late) expect({ path, late: await isLate(path) }).toEqual({ path, late: false });
      for (const status of [200, 404, 422]) expect(statuses.get(status) ?? 0).toBeGreaterThan(requests / 30);
      const reads = await service.api.register.getSingleMetric('ton_store_reads_total')!.get();
      const outcomes = reads.values.map(({ labels }) => labels['outcome']);
      expect(['ok', 'statement_timeout', 'store_unavailable']).toEqual(expect.arrayContaining(outcomes));
    },
    budgetMs,
  );
});

/** What a service without time for more answers. */
const overload: ReadonlySet<number> = new Set([503, 504]);

async function ask(path: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(service.api.api.url + path, { headers: { 'x-api-key': service.api.key } });
  return { status: response.status, text: await response.text() };
}

/** Whether a query alone is not answered in time either, at none of some tries. */
async function isLate(path: string): Promise<boolean> {
  for (let tries = 0; tries < 4; tries++) {
    if (!overload.has((await ask(path)).status)) return false;
  }
  return true;
}

/** What is wrong with an answer; undefined when nothing is. */
function flawOf(status: number, text: string): string | undefined {
  const body: unknown = JSON.parse(text);
  if (status === 200) return undefined;
  const { ok, code, error } = body as { ok: boolean; code: number; error: string };
  if (ok || code !== status || typeof error !== 'string') return `${status}: ${text}`;
  return status < 500 ? undefined : `${status} ${error}`;
}
