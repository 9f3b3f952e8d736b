import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Reply } from '#test/service/http/requests.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { createDraw } from '#test/support/draw.ts';
import { createEmulateBodies, selfAnswering, type EmulateBodies } from '#test/support/emulate-bodies.ts';
import { openEmulateClient, type EmulateClient, type EmulateOperation } from '#test/support/emulate-client.ts';
import { startForkedNetwork } from '#test/support/forked-network.ts';
import { countOf } from '#test/support/volume.ts';

/** Bodies of each operation. */
const counts = {
  emulateTrace: countOf({ quick: 130, full: 2000, long: 10_000 }),
  emulateTonConnect: countOf({ quick: 70, full: 2000, long: 5000 }),
};

/** Requests at once: more than the threads of the TVM. */
const callers = 6;

const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const TRANSACTIONS_MAX = 256;

/** The bound of a trace, and a last transaction that begins below the bound. */
const GAS_MAX = 4_000_000 + 1_000_000;

/** A larger answer is not judged by the document: judging takes longer than the emulation. */
const JUDGED_CHARACTERS_MAX = 100_000;

let service: Omit<ApiUnderTest, 'network'>;
let client: EmulateClient;
let bodies: EmulateBodies;

beforeAll(async () => {
  const forked = await startForkedNetwork();
  service = await startApiOver(forked.network);
  client = await openEmulateClient(service);
  bodies = createEmulateBodies(forked);
});
afterAll(() => service.close());

/**
 * Bounds of each status, as parts of all answers. An emulation that reaches the deadline of its request is answered with 504. Six of the
 * largest traces at once reach it on two cores.
 */
type Share = { readonly min: number; readonly max: number };

const shares: Readonly<Record<EmulateOperation, ReadonlyMap<number, Share>>> = {
  emulateTrace: new Map([
    [200, { min: 0.15, max: 0.4 }],
    [400, { min: 0.01, max: 0.1 }],
    [422, { min: 0.4, max: 0.75 }],
    [504, { min: 0, max: 0.12 }],
  ]),
  emulateTonConnect: new Map([
    [200, { min: 0.15, max: 0.4 }],
    [400, { min: 0.01, max: 0.1 }],
    [422, { min: 0.4, max: 0.75 }],
    [504, { min: 0, max: 0.02 }],
  ]),
};

type Shown = {
  readonly transactions: Readonly<
    Record<string, { readonly description: { readonly compute_ph: { gas_used?: string } } }>
  >;
};

/** The fault of the answer to a body; undefined without fault. */
function flawOf(operation: EmulateOperation, reply: Reply): string | undefined {
  const { status, text, body } = reply;
  if (Buffer.byteLength(text) > ANSWER_BYTES_MAX) return 'the answer is larger than 16 MiB';
  if (text.length < JUDGED_CHARACTERS_MAX) {
    const flaws = client.flaws(operation, reply);
    if (flaws.length > 0) return `${status} contradicts the document: ${JSON.stringify(flaws).slice(0, 1000)}`;
  }
  if (status === 200) return flawOfTrace(body as unknown as Shown);
  const isError = body['ok'] === false && body['code'] === status && typeof body['error'] === 'string';
  if (!isError) return `${status} has another form: ${text.slice(0, 300)}`;
  return status < 500 || status === 504 ? undefined : `${status}: ${text.slice(0, 300)}`;
}

function flawOfTrace({ transactions }: Shown): string | undefined {
  const ran = Object.values(transactions);
  if (ran.length > TRANSACTIONS_MAX) return `${ran.length} transactions`;
  const gas = ran.reduce((sum, { description }) => sum + Number(description.compute_ph.gas_used ?? 0), 0);
  return gas > GAS_MAX ? `${gas} of gas` : undefined;
}

/** Asks for each body once. */
async function ask(
  operation: EmulateOperation,
  texts: Iterable<string>,
): Promise<{ readonly flaws: unknown[]; readonly statuses: number[] }> {
  const flaws = new Map<string, string>();
  const statuses: number[] = [];
  const left = Iterator.from(texts);
  const caller = async (): Promise<void> => {
    for (const body of left) {
      const reply = await client.postText(operation, body);
      statuses.push(reply.status);
      const flaw = flawOf(operation, reply);
      if (flaw !== undefined) flaws.set(flaw, body.slice(0, 3000));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { flaws: [...flaws], statuses };
}

function* drawBodies(operation: EmulateOperation): Generator<string> {
  const draw = createDraw(20_261_128);
  for (let drawn = 0; drawn < counts[operation]; drawn++) {
    yield operation === 'emulateTrace' ? bodies.draw(draw) : bodies.drawTonConnect(draw);
  }
}

describe('bodies for emulateTrace that last long', () => {
  it('have among them contracts that answer themselves until a bound of the trace', async () => {
    const { body } = await client.post('emulateTrace', selfAnswering);
    expect([body['is_incomplete'], Object.keys(body['transactions'] as object).length]).toEqual([true, 32]);
  });

  it('are answered within the bounds when a contract runs without end', async () => {
    const { flaws, statuses } = await ask(
      'emulateTrace',
      bodies.endless.map((body) => JSON.stringify(body)),
    );
    expect(flaws).toEqual([]);
    expect(statuses).toHaveLength(bodies.endless.length);
    expect(statuses).toContain(200);
  });
});

describe.each(['emulateTrace', 'emulateTonConnect'] as const)('random bodies for %s', (operation) => {
  it('are answered within the bounds, never with a fault of the service', { timeout: 1_800_000 }, async () => {
    const requests = counts[operation];
    const { flaws, statuses } = await ask(operation, drawBodies(operation));
    expect(flaws).toEqual([]);
    expect(statuses).toHaveLength(requests);
    for (const [status, { min, max }] of shares[operation]) {
      const share = statuses.filter((one) => one === status).length / requests;
      expect([status, share, share >= min && share <= max]).toEqual([status, share, true]);
    }
    // The service still answers.
    const { body } = await client.post('emulateTrace', bodies.short[0]!);
    expect(body['is_incomplete']).toBe(false);
  });
});
