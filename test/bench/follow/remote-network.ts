import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { Devchain } from '#service/devchain/devchain.ts';
import type { Faults } from '#test/service/pool/network.ts';
import type { Answer, Order } from './network.ts';

/** The network of network.ts, which has a process of its own: making blocks shall not hold up who reads them. */
export type RemoteNetwork = {
  readonly zero: { readonly workchain: number; readonly rootHash: Buffer; readonly fileHash: Buffer };
  /** As far as a pool needs it. */
  readonly asDevchain: Devchain;
  readonly headSeqno: () => number;
  readonly setFaults: (index: number, faults: Faults) => void;
  /** Blocks of both chains up to a masterchain block. */
  readonly count: (mcSeqno: number) => Promise<number>;
  readonly close: () => Promise<void>;
};

export async function startRemoteNetwork(): Promise<RemoteNetwork> {
  const child = fork(join(import.meta.dirname, 'network.ts'), { serialization: 'advanced' });
  let headSeqno = 0;
  const told = <K extends Answer['kind']>(kind: K): Promise<Extract<Answer, { kind: K }>> =>
    new Promise((resolve) => {
      const hear = (answer: Answer): void => {
        if (answer.kind !== kind) return;
        child.off('message', hear);
        resolve(answer as Extract<Answer, { kind: K }>);
      };
      child.on('message', hear);
    });
  child.on('message', (answer: Answer) => {
    if (answer.kind === 'head') headSeqno = answer.seqno;
  });
  const { zero, liteServers } = await told('started');
  const [rootHash, fileHash] = [Buffer.from(zero.rootHash), Buffer.from(zero.fileHash)];
  const id = { workchain: -1, shard: 1n << 63n, seqno: 0, rootHash, fileHash };
  const servers = liteServers.map((one) => ({ ...one, publicKey: Buffer.from(one.publicKey) }));
  const ask = (order: Order): void => void child.send(order);
  return {
    zero: id,
    asDevchain: { liteServers: servers, chain: { zeroStates: [{ id }] } } as unknown as Devchain,
    headSeqno: () => headSeqno,
    setFaults: (index, faults) => ask({ kind: 'faults', index, faults }),
    async count(mcSeqno) {
      const counted = told('counted');
      ask({ kind: 'count', mcSeqno });
      return (await counted).blocks;
    },
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
