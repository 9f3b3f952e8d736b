import { describe, expect, it } from 'vitest';

import type { DevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createDevRpc } from '#service/devchain/dev/dev-rpc.ts';

/** Methods of which `dev_setBalance` never ends, and the timers that are started. */
function start() {
  const ran: string[] = [];
  const timers: (() => void)[] = [];
  const methods = new Proxy({} as DevMethods, {
    get: (_, name: string) => async () => {
      ran.push(name);
      return name === 'dev_setBalance' ? await new Promise(() => undefined) : name;
    },
  });
  const rpc = createDevRpc(methods, (run) => {
    timers.push(run);
    return () => void timers.splice(timers.indexOf(run), 1);
  });
  const call = async (method: string): Promise<unknown> =>
    JSON.parse(await rpc(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method }))));
  return { ran, timers, call };
}

describe('methods of a developer', () => {
  it('that look or end a wait answer while another method is stuck', async () => {
    const { call } = start();
    void call('dev_setBalance');
    const free = ['dev_status', 'dev_mine', 'dev_holdShardBlocks', 'dev_delayBlocks', 'dev_snapshots'];
    for (const method of free) expect(await call(method)).toMatchObject({ result: method });
  });

  it('wait a bounded time for their turn, name the method before, and do not run later', async () => {
    const { call, ran, timers } = start();
    void call('dev_setBalance');
    const late = call('dev_revert');
    await expect.poll(() => ran).toEqual(['dev_setBalance']);
    expect(timers).toHaveLength(1);
    timers[0]!();
    expect(await late).toMatchObject({
      error: { code: -32000, message: expect.stringContaining('dev_setBalance before it has not ended') as string },
    });
    expect(ran).toEqual(['dev_setBalance']);
  });

  it('run one after the other', async () => {
    const { call, ran } = start();
    await Promise.all(['dev_revert', 'dev_setTime', 'dev_load'].map(call));
    expect(ran).toEqual(['dev_revert', 'dev_setTime', 'dev_load']);
  });
});
