import { describe, expect, it } from 'vitest';
import type { AdnlFaults } from '#service/devchain/adnl/adnl-faults.ts';
import { LiteServerError } from '#service/liteserver/errors.ts';
import { getBlock, getTime, getVersion } from '#service/liteserver/functions.ts';
import { runningMs } from '#test/support/running-time.ts';
import {
  eventually,
  failing,
  openSockets,
  quickTuning,
  respondTime,
  runningTimers,
  startClient,
  startServer,
  startTcpServer,
} from './loopback.ts';

const anyBlock = {
  workchain: -1,
  shard: 0x8000000000000000n,
  seqno: 1,
  rootHash: Buffer.alloc(32),
  fileHash: Buffer.alloc(32),
};

async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof LiteServerError) return error.code;
    throw error;
  }
  return 'ok';
}

describe('a query', () => {
  it('a query is answered, by value and by bytes', async () => {
    const client = startClient(await startServer());
    expect(await client.query(getTime, {}, { timeoutMs: 60_000 })).toEqual({ now: 1_000_000 });
    const answer = await client.queryBytes(getVersion.encode({}), { timeoutMs: 60_000 });
    expect(getVersion.decode(answer).version).toBe(0x101);
  });

  it('many open queries get each its own answer, in any order', async () => {
    const server = await startServer(async (request) => {
      const { id } = getBlock.decodeArgs(request);
      await new Promise((resolve) => setTimeout(resolve, (id.seqno * 7919) % 20));
      return getBlock.encodeAnswer({ id, data: Buffer.alloc(id.seqno * 1000, id.seqno) });
    });
    const client = startClient(server);
    const seqnos = Array.from({ length: 200 }, (_unused, index) => index);
    const answers = await Promise.all(
      seqnos.map((seqno) => client.query(getBlock, { id: { ...anyBlock, seqno } }, { timeoutMs: 60_000 })),
    );
    expect(answers.map(({ id, data }) => [id.seqno, data.length])).toEqual(
      seqnos.map((seqno) => [seqno, seqno * 1000]),
    );
    expect(client.status().inFlight).toBe(0);
  });

  it('a query answered with an error throws it as its class', async () => {
    const client = startClient(await startServer(() => failing(651, 'block x is not in db')));
    await expect(client.query(getTime, {}, { timeoutMs: 60_000 })).rejects.toMatchObject({
      code: 'pruned',
      retryable: true,
      data: { serverCode: 651, text: 'block x is not in db', function: 'getTime' },
    });
  });

  it.each([
    ['another object', getVersion.encodeAnswer({ mode: 0, version: 1, capabilities: 1n, now: 1 })],
    ['nothing', Buffer.alloc(0)],
    ['a cut object', getTime.encodeAnswer({ now: 1 }).subarray(0, 6)],
    ['a cut error', failing(651, 'a long enough text').subarray(0, 12)],
  ])('an answer with %s breaks the protocol, and only that query fails', async (_what, answer) => {
    const client = startClient(
      await startServer((request) => (request.equals(getTime.encode({})) ? answer : respondTime(request))),
    );
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('protocol');
    expect(await codeOf(client.query(getVersion, {}, { timeoutMs: 60_000 }))).toBe('ok');
  });

  it('a query without an answer ends at its own deadline, and a late answer is dropped', async () => {
    const delayMs = 600;
    const server = await startServer(respondTime, { faults: { delayMs } });
    const client = startClient(server, { pingAfterMs: 10_000 });
    const inTime = async (): Promise<void> => {
      expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60 }))).toBe('timeout');
    };
    expect(await runningMs(inTime)).toBeLessThan(delayMs);
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('ok');
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 0 }))).toBe('timeout');
  });

  it('a query ends at once when its caller gives up, before or during it', async () => {
    const client = startClient(await startServer(() => null));
    const caller = new AbortController();
    const asked = codeOf(client.query(getTime, {}, { timeoutMs: 60_000, signal: caller.signal }));
    caller.abort();
    expect(await asked).toBe('aborted');
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000, signal: caller.signal }))).toBe('aborted');
    expect(client.status().inFlight).toBe(0);
  });

  it('a query beyond the bound in flight is refused, until another one ends', async () => {
    const client = startClient(await startServer(() => null), { inFlightMax: 2 });
    const caller = new AbortController();
    const asked = [1, 2].map(() => codeOf(client.query(getTime, {}, { timeoutMs: 60_000, signal: caller.signal })));
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('busy');
    caller.abort();
    expect(await Promise.all(asked)).toEqual(['aborted', 'aborted']);
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 20 }))).toBe('timeout');
  });

  it('a query too large for a frame is the caller’s mistake', async () => {
    const client = startClient(await startServer());
    expect(await codeOf(client.queryBytes(Buffer.alloc(1 << 24), { timeoutMs: 60_000 }))).toBe('client');
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('ok');
  });

  it('a query that starts before the connection waits for it, at most its own time', async () => {
    const client = startClient(await startServer());
    expect(client.status().connected).toBe(false);
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('ok');
    const mute = await startServer(respondTime, { faults: { silent: 'handshake' } });
    const silent = startClient(mute);
    const inTime = async (): Promise<void> => {
      expect(await codeOf(silent.query(getTime, {}, { timeoutMs: 40 }))).toBe('timeout');
    };
    expect(await runningMs(inTime)).toBeLessThan(1_000);
  });
});

describe('a failing lite server', () => {
  it('a server that refuses connections fails queries at once between attempts, and is back when it listens', async () => {
    const server = await startServer(respondTime, { faults: { refuse: true } });
    const client = startClient(server);
    await eventually('an attempt failed', () => client.status().failures > 0);
    const atOnce = async (): Promise<void> => {
      expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('unreachable');
    };
    expect(await runningMs(atOnce)).toBeLessThan(500);
    expect(client.status().lastError).toContain('ECONNREFUSED');
    await server.setFaults({});
    await eventually('it is connected', () => client.status().connected);
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('ok');
    expect(client.status().failures).toBe(0);
  });

  it('a server that accepts and stays silent is unreachable after the time to connect', async () => {
    const mute = await startServer(respondTime, { faults: { silent: 'handshake' } });
    const client = startClient(mute, { connectTimeoutMs: 200 });
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('unreachable');
    expect(client.status()).toMatchObject({ connected: false, lastError: 'connecting took too long' });
  });

  it('a server that falls silent later is dead after the missed pongs', async () => {
    const server = await startServer();
    const client = startClient(server);
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('ok');
    await server.setFaults({ silent: 'answers' });
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('unreachable');
    expect(client.status().lastError).toBe('2 pings were not answered');
  });

  it('pings keep the connection of a quiet server open', async () => {
    const idleMs = 1_500;
    const server = await startServer(respondTime, { idleMs });
    const client = startClient(server);
    await eventually('it is connected', () => client.status().connected);
    await new Promise((resolve) => setTimeout(resolve, idleMs + 500));
    expect(client.status()).toMatchObject({ connected: true, lastError: undefined });
    expect(server.connections()).toBe(1);
  });

  const breaking: [string, AdnlFaults][] = [
    ['sends a wrong frame hash', { badFrameHash: true }],
    ['announces a frame that is too long', { frameLength: 0x1000001 }],
    ['announces a frame that is too short', { frameLength: 63 }],
    ['announces frames that never end, and sends pongs within them', { frameLength: 0x1000000 }],
    ['sends garbage', { garbage: true }],
    ['cuts a frame and resets', { halfFrame: true }],
    ['closes after some frames', { closeAfterFrames: 1 }],
  ];
  it.each(breaking)('a server that %s fails open queries, and is used again when it is well', async (_what, faults) => {
    const server = await startServer(respondTime, { faults });
    const client = startClient(server, { stableMs: 10_000 });
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('unreachable');
    await server.setFaults({});
    await eventually('it is connected', () => client.status().connected);
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('ok');
  });

  it('a server that resets every connection fails all open queries at once', async () => {
    const server = await startServer(() => null);
    const client = startClient(server);
    await eventually('it is connected', () => client.status().connected);
    const asked = [1, 2, 3].map(() => codeOf(client.query(getTime, {}, { timeoutMs: 60_000 })));
    await eventually('the queries arrived', () => client.status().inFlight === 3);
    server.resetConnections();
    expect(await Promise.all(asked)).toEqual(['unreachable', 'unreachable', 'unreachable']);
  });

  it('a server that restarts on its port is reconnected to', async () => {
    const first = await startServer();
    const client = startClient(first);
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('ok');
    await first.close();
    await eventually('the end was noticed', () => !client.status().connected);
    await startServer(respondTime, { port: first.port });
    await eventually('it is connected', () => client.status().connected);
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('ok');
  });

  it('a server with another key is never connected to', async () => {
    const server = await startServer();
    const client = startClient({ port: server.port, publicKeys: [Buffer.alloc(32, 3)] });
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('unreachable');
    expect(server.connections()).toBe(0);
  });

  it('a server without ADNL breaks the protocol', async () => {
    const { port } = await startTcpServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(20)));
    const client = startClient({ port });
    expect(await codeOf(client.query(getTime, {}, { timeoutMs: 60_000 }))).toBe('unreachable');
    expect(client.status().lastError).toMatch(/a frame/);
  });

  it('a server that reads and writes slowly still gets and sends everything', async () => {
    const block = getBlock.encodeAnswer({ id: anyBlock, data: Buffer.alloc(20_000, 1) });
    const server = await startServer(() => block, {
      faults: { slowRead: { bytes: 1_000, everyMs: 5 }, slowWrite: { bytes: 1_000, everyMs: 2 } },
    });
    const client = startClient(server);
    const [first, second] = await Promise.all(
      [1, 2].map(() => client.query(getBlock, { id: anyBlock }, { timeoutMs: 60_000 })),
    );
    expect(first?.data.length).toBe(20_000);
    expect(second?.data.length).toBe(20_000);
  });
});

describe('pauses between attempts', () => {
  it('pauses grow while a lite server accepts connections only to drop them', async () => {
    let accepted = 0;
    const startedMs = performance.now();
    const { port } = await startTcpServer((socket) => {
      accepted += 1;
      socket.destroy();
    });
    const client = startClient({ port }, { ...quickTuning, backoffMinMs: 10, backoffMaxMs: 80 }, { random: () => 1 });
    await eventually('the sixth attempt', () => accepted >= 6);
    // 10 + 20 + 40 + 80 + 80 ms between the attempts. A timer may be a millisecond early.
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(230 - 5);
    expect(client.status().failures).toBeGreaterThanOrEqual(3);
  });
});

describe('closing', () => {
  it('closing settles every query and leaves no handle, from any state', async () => {
    const timersBefore = runningTimers();
    const server = await startServer(() => null);
    const refusing = await startServer(respondTime, { faults: { refuse: true } });
    const mute = await startServer(respondTime, { faults: { silent: 'handshake' } });
    const caller = new AbortController();
    const clients = [startClient(server), startClient(refusing), startClient(mute), startClient(server)];
    const [connected, pausing] = clients;
    await eventually('one is connected', () => connected?.status().connected === true);
    await eventually('one pauses', () => (pausing?.status().failures ?? 0) > 0);
    const asked = [0, 2, 3].map((index) =>
      codeOf(clients[index]?.query(getTime, {}, { timeoutMs: 60_000, signal: caller.signal }) ?? Promise.resolve()),
    );
    await Promise.all(clients.map((client) => client.close()));
    expect(await Promise.all(asked)).toEqual(['closed', 'closed', 'closed']);
    expect(await codeOf(clients[0]?.query(getTime, {}, { timeoutMs: 60_000 }) ?? Promise.resolve())).toBe('closed');
    await Promise.all([server.close(), refusing.close(), mute.close()]);
    await eventually('no socket is open', () => openSockets().length === 0);
    expect(runningTimers()).toBeLessThanOrEqual(timersBefore);
  });

  it('closing twice is closing once', async () => {
    const client = startClient(await startServer());
    await Promise.all([client.close(), client.close()]);
    expect(client.status().connected).toBe(false);
  });

  it('a lite server needs as many timers as there are queries, besides those of the connection', async () => {
    const server = await startServer(() => null);
    const client = startClient(server);
    await eventually('it is connected', () => client.status().connected);
    const before = runningTimers();
    const caller = new AbortController();
    const asked = Array.from({ length: 50 }, () =>
      codeOf(client.query(getTime, {}, { timeoutMs: 60_000, signal: caller.signal })),
    );
    expect(runningTimers() - before).toBe(50);
    caller.abort();
    await Promise.all(asked);
    expect(runningTimers()).toBe(before);
  });
});
