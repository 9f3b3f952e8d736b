import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { object, scalar } from '#service/contract/shape.ts';
import { defineV3Operation } from '#service/v3/request/operation.ts';
import { hashes, paging } from '#service/v3/request/parameters.ts';
import { v3QuerySource } from '#service/v3/request/query-source.ts';
import { createV3 } from '#service/v3/v3.ts';

const answer = object({ name: scalar<string>({ type: 'string' }) });

/** Operations that end when they are told to. */
function createOperations() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const handle = async (name: string): Promise<{ name: string }> => {
    begun.push(name);
    await new Promise<void>((resolve) => void ends.set(name, resolve));
    return { name };
  };
  const common = { tag: 'tests', summary: 'Ends when it is told to.', result: answer };
  const register = new Registry();
  const { operations } = createV3(
    [
      defineV3Operation({
        ...common,
        name: 'list',
        parameters: { ...paging },
        handle: ({ offset }) => handle(`list ${offset}`),
      }),
      defineV3Operation({
        ...common,
        name: 'named',
        parameters: { names: hashes('hash') },
        handle: () => handle('named'),
      }),
      defineV3Operation({
        ...common,
        name: 'large',
        parameters: { ...paging },
        rows: ({ limit }) => 100 * limit,
        handle: ({ offset }) => handle(`large ${offset}`),
      }),
    ],
    { store: { read: () => Promise.resolve([]) }, nowMs: () => 0, register },
  );
  const ask = (name: string, query: string, signal = new AbortController().signal): Promise<unknown> =>
    operations
      .find((one) => one.name === name)!
      .run(v3QuerySource(new URLSearchParams(query)), {
        deadlineMs: 1000,
        signal,
        settings: { timeoutMs: 3000, addressBook: true, metadata: true, actionsVersion: undefined },
        onNextPage: () => {},
      });
  const end = (name: string): void => ends.get(name)!();
  const told = async (): Promise<string> => (await register.metrics()).replaceAll(/^#.*\n/gm, '');
  return { begun, ask, end, told };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('rows of v3 that answers are made of at once', () => {
  it('are bounded: requests for many wait for their turn, those for few do not', async () => {
    const { begun, ask, end, told } = createOperations();
    const asked = [0, 1, 2, 3, 4].map((offset) => ask('list', `limit=1000&offset=${offset}`));
    await turn();
    expect(begun).toEqual(['list 0', 'list 1', 'list 2', 'list 3']);
    const small = ask('list', 'limit=10&offset=9');
    await turn();
    expect(begun.at(-1)).toBe('list 9');
    expect(await told()).toContain('ton_v3_rows_in_work 4000\n');
    expect(await told()).toContain('ton_v3_requests_waiting 1\n');
    end('list 2');
    await turn();
    expect(begun.at(-1)).toBe('list 4');
    for (const name of begun.filter((one) => one !== 'list 2')) end(name);
    await Promise.all([...asked, small]);
    expect(await told()).toContain('ton_v3_rows_in_work 0\n');
  });

  it('are as many as an operation says, or as the names that it is given', async () => {
    const { begun, ask, end, told } = createOperations();
    const large = ask('large', 'limit=39');
    const names = Array.from({ length: 101 }, (_, at) => `hash=${Buffer.alloc(32, at).toString('hex')}`).join('&');
    const named = ask('named', names);
    await turn();
    expect(begun).toEqual(['large 0']);
    expect(await told()).toContain('ton_v3_rows_in_work 3900\n');
    end('large 0');
    await turn();
    expect(begun).toEqual(['large 0', 'named']);
    expect(await told()).toContain('ton_v3_rows_in_work 101\n');
    end('named');
    await Promise.all([large, named]);
  });

  it('are left to others by whoever waits no more, and by what fails before it runs', async () => {
    const { begun, ask, end } = createOperations();
    const gone = new AbortController();
    const first = ask('large', 'limit=40');
    const second = ask('large', 'limit=40&offset=1', gone.signal);
    const third = ask('list', 'limit=1000&offset=2');
    gone.abort(new Error('the caller went away'));
    await expect(second).rejects.toThrow('the caller went away');
    await expect(ask('list', 'limit=none')).rejects.toThrow(/limit/);
    end('large 0');
    await turn();
    expect(begun).toEqual(['large 0', 'list 2']);
    end('list 2');
    await Promise.all([first, third]);
  });
});
