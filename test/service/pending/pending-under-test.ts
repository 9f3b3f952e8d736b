import { randomUUID } from 'node:crypto';

import { pino } from 'pino';
import { Registry } from 'prom-client';

import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { createDetector } from '#service/interfaces/detector.ts';
import { createChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import { readExternalMessage } from '#service/live/send/external-message.ts';
import type { ExternalMessage } from '#service/live/send/external-message.ts';
import { createPending } from '#service/pending/pending.ts';
import type { IndexedTrace, Pending, PendingTrace } from '#service/pending/pending.ts';
import type { PendingLink } from '#service/pending/shared-traces.ts';
import type { Pool } from '#service/pool/pool.ts';
import { createTvm } from '#service/tvm/tvm.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet } from '#test/support/wallet.ts';
import type { TestWallet } from '#test/support/wallet.ts';
import { openPool } from '../pool/network.ts';
import { patientPool } from '../indexer/index-under-test.ts';

/** What the test says is indexed; `taken` by normalised hash in hex. */
export type IndexSaid = { readonly taken: Map<string, IndexedTrace>; seqno: number; broken: boolean };

export type PendingNetwork = {
  readonly network: PrivateNetwork;
  /** Under which its pods keep traces in a Redis that other tests use too. */
  readonly scope: string;
  readonly pool: Pool;
  /** Has money from the beginning; its code is there once it sent a message. */
  readonly faucet: TestWallet;
  readonly index: IndexSaid;
  /** Whether contracts can be looked into. */
  readonly looking: { broken: boolean };
  /** A simulation begins when this has resolved. */
  readonly simulations: { gate: Promise<unknown> };
  /** A clock that a test turns on. */
  readonly clock: { unixMs: number };
  /** Pending traces of a pod; `register` is its own. */
  open(link?: PendingLink): Pending & { readonly register: Registry };
  /** Sends a message to the network and tells the pod of it, as the API does; resolves when it was run. */
  send(pending: Pending, message: Buffer): Promise<ExternalMessage>;
  /** Makes a block and waits until the pool serves it. */
  step(): Promise<void>;
  close(): Promise<void>;
};

/** All of a trace's transactions are there, without its actions and with them. */
export const whole: IndexedTrace = { isClassified: false, accounts: undefined };
export const classified: IndexedTrace = { isClassified: true, accounts: undefined };

const now = (): number => performance.now();

/**
 * A private network, a pool over it, and pods that watch messages; nothing is looked at again but when the test says so.
 * @param over a network that is there; closed like one of its own
 */
export async function startPendingNetwork(over?: PrivateNetwork): Promise<PendingNetwork> {
  const network = over ?? (await startPrivateNetwork());
  const opening = openPool({ ...network, moveHead: () => undefined }, { tuning: patientPool });
  const { pool } = opening;
  const logger = pino({ level: 'silent' });
  const tvm = createTvm({ workers: 1 }, { register: new Registry(), logger, now });
  const worlds = createChainSnapshots({ trust: 'verified' }, { pool, tvm, now });
  const index: IndexSaid = { taken: new Map(), seqno: 0, broken: false };
  const scope = `test-${randomUUID()}`;
  const looking = { broken: false };
  const simulations: PendingNetwork['simulations'] = { gate: Promise.resolve() };
  const detector = createDetector({ network: 'custom' }, { register: new Registry() });
  const clock = { unixMs: 1_790_000_000_000 };
  const opened: Pending[] = [];

  async function served(): Promise<void> {
    const { seqno } = network.head().id;
    while ((pool.head()?.block.seqno ?? 0) < seqno) await new Promise((done) => setTimeout(done, 5));
  }

  await served();
  return {
    network,
    scope,
    pool,
    faucet: testWallet(network.faucet.seed),
    index,
    looking,
    simulations,
    clock,
    open(link) {
      const register = new Registry();
      const pending = createPending(
        { scope, everyMs: 0 },
        {
          worlds: { open: (...block) => simulations.gate.then(() => worlds.open(...block)) },
          index: {
            findTaken: (sent) =>
              index.broken
                ? Promise.reject(new Error('the index is away'))
                : Promise.resolve(
                    new Map([...index.taken].filter(([key]) => sent.some((one) => one.key.toString('hex') === key))),
                  ),
            lastSeqno: () => Promise.resolve(index.seqno),
          },
          detector: {
            detect: (...account) =>
              looking.broken ? Promise.reject(new Error('no answer')) : detector.detect(...account),
          },
          link,
          head: () => pool.head(),
          now,
          unixMs: () => clock.unixMs,
          logger,
          register,
        },
      );
      opened.push(pending);
      return { ...pending, register };
    },
    async send(pending, message) {
      network.send(message);
      const external = readExternalMessage(message);
      pending.note(external, {});
      await pending.refresh();
      return external;
    },
    async step() {
      await network.step();
      await served();
    },
    async close() {
      await Promise.all(opened.map((pending) => pending.close()));
      await tvm.close();
      await opening.close();
      await network.close();
    },
  };
}

/** `account -> account` of every simulated transaction, first hex digits. */
export function pathOf(trace: PendingTrace): readonly string[] {
  return trace.transactions.map(({ boc }) => {
    const table = parseBoc(boc);
    return readTransaction(table, table.roots[0]!).account.toString('hex');
  });
}
