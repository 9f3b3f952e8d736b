import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { loadChain } from '#service/devchain/devchain.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import type { Faults } from '#test/service/pool/network.ts';
import { recordingDirs } from '#test/support/fixtures.ts';

/** What the process of the lite servers is told. */
export type Order =
  | { readonly kind: 'faults'; readonly id: number; readonly index: number; readonly faults: Faults }
  | { readonly kind: 'moveHead'; readonly seqno: number };

type Place = { readonly host: string; readonly port: number; readonly publicKey: Uint8Array };

/** What it tells: where it listens, once, then each order that was carried out. */
export type Answer = { readonly liteServers: readonly Place[]; readonly headSeqno: number } | { readonly done: number };

/** The recorded network with lite servers in a process of their own; the chain itself is read here too, to judge answers by. */
export async function startRemoteNetwork(servers: number): Promise<Devchain> {
  const [recordingDir] = recordingDirs();
  if (recordingDir === undefined) throw new Error('no recorded network among the fixtures');
  const child = fork(join(import.meta.dirname, 'network.ts'), [`${servers}`], { serialization: 'advanced' });
  const waiting = new Map<number, () => void>();
  const [started] = (await once(child, 'message')) as [Extract<Answer, { liteServers: unknown }>];
  child.on('message', (answer: Answer) => {
    if ('done' in answer) waiting.get(answer.done)?.();
  });
  const chain = await loadChain(recordingDir);
  let { headSeqno } = started;
  let orders = 0;

  async function setFaults(index: number, faults: Faults): Promise<void> {
    const id = ++orders;
    await new Promise<void>((resolve) => {
      waiting.set(id, resolve);
      child.send({ kind: 'faults', id, index, faults } satisfies Order);
    });
    waiting.delete(id);
  }

  return {
    chain,
    liteServers: started.liteServers.map(({ host, port, publicKey }, index) => ({
      host,
      port,
      publicKey: Buffer.from(publicKey),
      faults: () => ({}),
      setFaults: (faults) => setFaults(index, faults),
      // With the fault that asks for it, over there.
      resetConnections: () => undefined,
    })),
    head: () => chain.masterchain(headSeqno)!,
    onHead: () => () => undefined,
    moveHead(seqno) {
      headSeqno = Math.min(Math.max(headSeqno, seqno), chain.lastSeqno);
      child.send({ kind: 'moveHead', seqno } satisfies Order);
    },
    globalConfig() {
      throw new Error('the benchmark makes its pools from the lite servers');
    },
    async close() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
