import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { ADNLClientTCP } from 'adnl';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AdnlServer, AdnlServerConnection } from '#service/devchain/adnl/adnl-server.ts';
import { createAdnlServer } from '#service/devchain/adnl/adnl-server.ts';
import { createFrameDecoder, createFrameEncoder } from '#service/liteserver/adnl/frame.ts';
import { clientHandshake, HANDSHAKE_BYTES, serverHandshake } from '#service/liteserver/adnl/handshake.ts';
import { adnlIdentity } from '#service/liteserver/adnl/keys.ts';
import { getBlock, getTime } from '#service/liteserver/functions.ts';
import * as adnl from '#service/liteserver/tl/adnl.ts';
import { encodeEnvelope } from '#service/liteserver/tl/envelope.ts';
import { decodeTl, encodeTl } from '#service/liteserver/tl/record.ts';
import {
  eventually,
  openSockets,
  runningTimers,
  serverSeed,
  silentLogger,
  startClient,
  startServer,
  startTcpServer,
} from '#test/service/liteserver/loopback.ts';

type RawClient = {
  readonly socket: Socket;
  readonly payloads: Buffer[];
  send(payload: Buffer): void;
  ended(): boolean;
};

/** A client made of the codecs alone: it sends what it is told and notes what comes. */
async function rawClient(server: AdnlServer, keyIndex = 0): Promise<RawClient> {
  const publicKey = server.publicKeys[keyIndex] ?? Buffer.alloc(32);
  const { packet, streams } = clientHandshake(publicKey, randomBytes(32), randomBytes(160));
  const payloads: Buffer[] = [];
  const encoder = createFrameEncoder(streams.send);
  const decoder = createFrameDecoder(streams.receive, (payload) => payloads.push(payload));
  const socket = connect(server.port, '127.0.0.1');
  let ended = false;
  socket.on('data', (chunk: Buffer) => decoder.push(chunk));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => (ended = true));
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(packet);
  return { socket, payloads, send: (payload) => void socket.write(encoder.encode(payload)), ended: () => ended };
}

const queryOf = (request: Buffer, queryId = randomBytes(32)): Buffer =>
  encodeTl(adnl.query.boxed, { queryId, query: encodeEnvelope(request) });

const anyBlock = {
  workchain: 0,
  shard: 0x8000000000000000n,
  seqno: 1,
  rootHash: Buffer.alloc(32),
  fileHash: Buffer.alloc(32),
};

describe('the `adnl` package’s client', () => {
  it('connects, asks and is answered, small and large', async () => {
    const data = randomBytes(300_000);
    const server = await startServer((request) => getBlock.encodeAnswer({ ...getBlock.decodeArgs(request), data }));
    const client = new ADNLClientTCP(`tcp://127.0.0.1:${server.port}`, server.publicKeys[0] ?? Buffer.alloc(0));
    const ready = once(client, 'ready');
    await client.connect();
    await ready;
    const answered = once(client, 'data');
    const queryId = randomBytes(32);
    client.write(queryOf(getBlock.encode({ id: anyBlock }), queryId));
    const [payload] = (await answered) as [Buffer];
    const { queryId: answeredId, answer } = decodeTl(adnl.answer.boxed, payload);
    expect(answeredId).toEqual(queryId);
    expect(getBlock.decode(answer).data.equals(data)).toBe(true);
    const closed = once(client, 'close');
    client.end();
    await closed;
  });
});

describe('our client', () => {
  it('understands a server whose frames come cut and joined in odd places', async () => {
    const { port } = await startTcpServer((socket) => {
      void (async () => {
        const packet = (await once(socket, 'data'))[0] as Buffer;
        const { streams } = serverHandshake(packet.subarray(0, HANDSHAKE_BYTES), [adnlIdentity(serverSeed)]);
        const frame = (payload: Buffer): Buffer => {
          const body = Buffer.concat([randomBytes(32), payload]);
          const length = Buffer.alloc(4);
          length.writeUInt32LE(body.length + 32);
          return streams.send.update(Buffer.concat([length, body, createHash('sha256').update(body).digest()]));
        };
        const decoder = createFrameDecoder(streams.receive, (payload) => {
          const { queryId } = decodeTl(adnl.query.boxed, payload);
          const answer = encodeTl(adnl.answer.boxed, { queryId, answer: getTime.encodeAnswer({ now: 77 }) });
          const keepAlive = frame(Buffer.alloc(0));
          const wire = Buffer.concat([keepAlive, frame(answer)]);
          socket.write(wire.subarray(0, 50));
          setTimeout(() => socket.write(wire.subarray(50)), 5);
        });
        socket.on('data', (chunk: Buffer) => decoder.push(chunk));
        socket.write(frame(Buffer.alloc(0)));
      })();
    });
    const client = startClient({ port });
    expect(await client.query(getTime, {}, { timeoutMs: 60_000 })).toEqual({ now: 77 });
    expect(await client.query(getTime, {}, { timeoutMs: 60_000 })).toEqual({ now: 77 });
  });
});

describe('the ADNL server', () => {
  it('greets with an empty frame, answers pings, and takes what follows the handshake in one piece with it', async () => {
    const server = await startServer();
    const publicKey = server.publicKeys[0] ?? Buffer.alloc(0);
    const { packet, streams } = clientHandshake(publicKey, randomBytes(32), randomBytes(160));
    const payloads: Buffer[] = [];
    const decoder = createFrameDecoder(streams.receive, (payload) => payloads.push(payload));
    const encoder = createFrameEncoder(streams.send);
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    const ping = encodeTl(adnl.ping.boxed, { randomId: -5n });
    const wire = Buffer.concat([packet, encoder.encode(Buffer.alloc(0)), encoder.encode(ping)]);
    socket.write(wire.subarray(0, 100));
    await new Promise((resolve) => setTimeout(resolve, 10));
    socket.write(wire.subarray(100));
    await eventually('greeting and pong', () => payloads.length === 2);
    expect(payloads).toEqual([Buffer.alloc(0), encodeTl(adnl.pong.boxed, { randomId: -5n })]);
  });

  it('answers an authentication with a dummy nonce and accepts whatever completes it', async () => {
    const client = await rawClient(await startServer());
    client.send(encodeTl(adnl.authenticate.boxed, { nonce: randomBytes(256) }));
    await eventually('a nonce', () => client.payloads.length === 2);
    expect(decodeTl(adnl.authenticationNonce.boxed, client.payloads[1] ?? Buffer.alloc(0)).nonce.length).toBe(256);
    client.send(
      encodeTl(adnl.authenticationComplete.boxed, { key: { key: randomBytes(32) }, signature: randomBytes(64) }),
    );
    client.send(queryOf(getTime.encode({})));
    await eventually('an answer', () => client.payloads.length === 3);
    expect(client.ended()).toBe(false);
  });

  it('listens for all its keys and tells which one was addressed', async () => {
    const keys: number[] = [];
    const server = await createAdnlServer(
      { host: '127.0.0.1', port: 0, seeds: [serverSeed, Buffer.alloc(32, 8)] },
      {
        logger: silentLogger,
        handleQuery: (_payload, connection) => {
          keys.push(connection.keyIndex);
          return Promise.resolve(getTime.encodeAnswer({ now: 1 }));
        },
      },
    );
    onTestFinished(() => server.close());
    for (const index of [1, 0]) {
      const client = await rawClient(server, index);
      client.send(queryOf(getTime.encode({})));
      await eventually('an answer', () => client.payloads.length === 2);
    }
    expect(keys).toEqual([1, 0]);
  });

  it('answers in the order in which answers are ready', async () => {
    const server = await startServer(async (request) => {
      const { id } = getBlock.decodeArgs(request);
      await new Promise((resolve) => setTimeout(resolve, id.seqno));
      return getBlock.encodeAnswer({ id, data: Buffer.alloc(0) });
    });
    const client = await rawClient(server);
    for (const seqno of [80, 1, 40]) client.send(queryOf(getBlock.encode({ id: { ...anyBlock, seqno } })));
    await eventually('three answers', () => client.payloads.length === 4);
    const seqnos = client.payloads
      .slice(1)
      .map((payload) => getBlock.decode(decodeTl(adnl.answer.boxed, payload).answer).id.seqno);
    expect(seqnos).toEqual([1, 40, 80]);
  });

  it('works on no more queries of a connection than its bound, and gets through all', async () => {
    let inWork = 0;
    let most = 0;
    const server = await startServer(
      async () => {
        inWork += 1;
        most = Math.max(most, inWork);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inWork -= 1;
        return getTime.encodeAnswer({ now: 1 });
      },
      { inFlightMax: 4 },
    );
    const client = await rawClient(server);
    for (let sent = 0; sent < 40; sent++) {
      client.send(queryOf(getTime.encode({})));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually('all answers', () => client.payloads.length === 41);
    expect(most).toBeLessThan(40);
  });

  it('sends nothing for a query that is not answered, or whose handler fails', async () => {
    let asked = 0;
    const server = await startServer(() => {
      asked += 1;
      if (asked === 1) return null;
      if (asked === 2) throw new Error('a fault of the handler');
      return getTime.encodeAnswer({ now: 1 });
    });
    const client = await rawClient(server);
    for (let sent = 0; sent < 3; sent++) client.send(queryOf(getTime.encode({})));
    await eventually('the third answer', () => client.payloads.length === 2);
    expect([asked, client.ended()]).toEqual([3, false]);
  });

  it('tells a handler when its client is gone', async () => {
    const seen: AdnlServerConnection[] = [];
    const server = await createAdnlServer(
      { host: '127.0.0.1', port: 0, seeds: [serverSeed] },
      { logger: silentLogger, handleQuery: () => Promise.resolve(null), onConnection: (each) => seen.push(each) },
    );
    onTestFinished(() => server.close());
    const client = await rawClient(server);
    await eventually('the connection', () => seen.length === 1);
    expect(seen[0]?.signal.aborted).toBe(false);
    client.socket.destroy();
    await eventually('its end', () => seen[0]?.signal.aborted === true);
    expect(server.connections()).toBe(0);
  });

  it('closes a connection from which nothing comes, by its own rule or by a fault', async () => {
    const server = await startServer(undefined, { idleMs: 60 });
    const client = await rawClient(server);
    await eventually('the end', () => client.ended());
    const patient = await startServer();
    const second = await rawClient(patient);
    await eventually('the greeting', () => second.payloads.length === 1);
    await patient.setFaults({ closeAfterIdleMs: 30 });
    await eventually('the end', () => second.ended());
    expect(patient.connections() + server.connections()).toBe(0);
  });

  it.each([
    ['a payload of an unknown kind', Buffer.from('0102030405060708', 'hex')],
    ['a payload of one byte', Buffer.from('01', 'hex')],
    ['a query that is cut', queryOf(getTime.encode({})).subarray(0, 40)],
    ['a nonce that is too long', encodeTl(adnl.authenticate.boxed, { nonce: Buffer.alloc(513) })],
  ])('ends a connection on %s', async (_what, payload) => {
    const client = await rawClient(await startServer());
    await eventually('the greeting', () => client.payloads.length === 1);
    client.send(payload);
    await eventually('the end', () => client.ended());
    expect(client.payloads).toEqual([Buffer.alloc(0)]);
  });

  it('ends a connection on garbage instead of a handshake, and serves others', async () => {
    const server = await startServer();
    const sockets = Array.from({ length: 20 }, (_unused, index) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => socket.destroy());
      socket.write(randomBytes(200 + index * 10));
      return socket;
    });
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    await eventually('whoever sent 256 bytes is gone', () => sockets.filter((socket) => socket.closed).length === 14);
    const client = await rawClient(server);
    client.send(queryOf(getTime.encode({})));
    await eventually('an answer', () => client.payloads.length === 2);
    expect(server.connections()).toBe(1);
  });

  it('can reset connections that are just ending in order', async () => {
    const seen: AdnlServerConnection[] = [];
    const server = await createAdnlServer(
      { host: '127.0.0.1', port: 0, seeds: [serverSeed] },
      { logger: silentLogger, handleQuery: () => Promise.resolve(null), onConnection: (each) => seen.push(each) },
    );
    const client = await rawClient(server);
    await eventually('the greeting', () => client.payloads.length === 1);
    for (const connection of seen) connection.close();
    server.resetConnections();
    await eventually('the end on both sides', () => client.ended() && seen[0]?.signal.aborted === true);
    await server.close();
    expect(server.connections()).toBe(0);
  });

  it('takes no more connections than its bound', async () => {
    const server = await startServer(undefined, { connectionsMax: 2 });
    const clients = [await rawClient(server), await rawClient(server)];
    await eventually('both are greeted', () => clients.every((client) => client.payloads.length === 1));
    const third = await rawClient(server);
    await eventually('the third is gone', () => third.ended());
    expect(server.connections()).toBe(2);
  });

  it('keeps its port through a time of refusing, and leaves no handle when closed', async () => {
    const timersBefore = runningTimers();
    const server = await startServer();
    const { port } = server;
    const client = await rawClient(server);
    await server.setFaults({ refuse: true });
    await expect(rawClient(server)).rejects.toThrow('ECONNREFUSED');
    await server.setFaults({});
    const again = await rawClient(server);
    await eventually('both are greeted', () => [client, again].every((each) => each.payloads.length === 1));
    expect(server.port).toBe(port);
    await server.close();
    await eventually('both are gone', () => client.ended() && again.ended());
    await eventually('no socket is open', () => openSockets().length === 0);
    expect(runningTimers()).toBeLessThanOrEqual(timersBefore);
  });
});
