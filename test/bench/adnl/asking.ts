import { once } from 'node:events';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { LiteClient, LiteSingleEngine } from 'ton-lite-client';
import { Functions } from 'ton-lite-client/dist/schema.js';
import { getBlock, getMasterchainInfo } from '#service/liteserver/functions.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';

// A client's process: started with the side, the server's port and its public key in hex; each message asks for a
// round of queries and is answered with the CPU time of this process for one of them, in microseconds.

/** `bytes` of the answer's data; 0 asks for getMasterchainInfo. */
export type Round = { readonly count: number; readonly bytes: number };

type Ask = (bytes: number) => Promise<unknown>;

/** Queries open at once, as in a service that is used: one at a time would measure how the machine wakes a process. */
const inFlight = 8;
const timeoutMs = 30_000;
const zeros = Buffer.alloc(32);

function ours(port: number, publicKey: Buffer): Ask {
  const client = createLiteServer(
    { name: 'bench', host: '127.0.0.1', port, publicKey },
    { logger: pino({ level: 'silent' }), register: new Registry() },
  );
  const id = { workchain: 0, shard: 0x8000000000000000n, rootHash: zeros, fileHash: zeros };
  return (bytes) =>
    bytes === 0
      ? client.query(getMasterchainInfo, {}, { timeoutMs })
      : client.query(getBlock, { id: { ...id, seqno: bytes } }, { timeoutMs });
}

async function theirs(port: number, publicKey: Buffer): Promise<Ask> {
  const engine = new LiteSingleEngine({ host: `tcp://127.0.0.1:${port}`, publicKey });
  await once(engine, 'ready');
  const client = new LiteClient({ engine });
  const id = {
    kind: 'tonNode.blockIdExt',
    workchain: 0,
    shard: '-9223372036854775808',
    rootHash: zeros,
    fileHash: zeros,
  } as const;
  return (bytes) =>
    bytes === 0
      ? client.getMasterchainInfo({ timeout: timeoutMs })
      : engine.query(
          Functions.liteServer_getBlock,
          { kind: 'liteServer.getBlock', id: { ...id, seqno: bytes } },
          { timeout: timeoutMs },
        );
}

async function measure(ask: Ask, { count, bytes }: Round): Promise<number> {
  let left = count;
  const askOn = async (): Promise<void> => {
    while (left-- > 0) await ask(bytes);
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, askOn));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

const [side, port, key] = process.argv.slice(2);
const publicKey = Buffer.from(key ?? '', 'hex');
const ask = side === 'ours' ? ours(Number(port), publicKey) : await theirs(Number(port), publicKey);

process.on('message', (round: Round) => {
  void measure(ask, round).then((micros) => process.send?.(micros));
});
process.once('disconnect', () => process.exit());
