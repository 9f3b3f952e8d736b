import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { createEmulate } from '#service/emulate/emulate.ts';
import { emulateTonConnectOperation } from '#service/emulate/operations/emulate-ton-connect.ts';
import { emulateTraceOperation } from '#service/emulate/operations/emulate-trace.ts';
import { createTraceAnswers } from '#service/emulate/trace-answers.ts';
import type { EmulateIndex } from '#service/emulate/views/annotations.ts';
import { describeEmulate } from '#service/http/openapi-v3.ts';
import { createDetector, type Detector } from '#service/interfaces/detector.ts';
import { createChainSnapshots, type ChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import type { Pool } from '#service/pool/pool.ts';
import { createTvm } from '#service/tvm/tvm.ts';
import { startListener, type Listener, type ListenerSetup } from '#test/service/http/listener.ts';
import type { OpenApi } from '#test/service/http/reference.ts';
import type { Reply } from '#test/service/http/requests.ts';
import { createEmulateClient } from '#test/support/emulate-client.ts';
import { patientPool } from '../indexer/index-under-test.ts';
import { openPool } from '../pool/network.ts';

/** Emulation over a network, behind a real listener. */
export type EmulateUnderTest = {
  readonly network: PrivateNetwork;
  readonly pool: Pool;
  readonly snapshots: ChainSnapshots;
  readonly detector: Detector;
  readonly register: Registry;
  readonly listener: Listener;
  /** Posts a body to `emulateTrace`. Fails when the answer contradicts the document. */
  emulate(body: object, headers?: Record<string, string>): Promise<Reply>;
  /** Posts a body to `emulateTonConnect`, with the same check. */
  emulateTonConnect(body: object): Promise<Reply>;
  /** Makes a block and waits until the pool serves it. */
  step(): Promise<void>;
  close(): Promise<void>;
};

const now = (): number => performance.now();

/** Bound of a request and of a run that tests of other bounds do not meet, however busy the machine is. */
const patientMs = 120_000;

/**
 * Starts the emulation over a network; `close` also closes the network. The random seed of each request is the number of the request.
 * @param options.wallTimeMs longest run of a contract
 * @param options.threadMs thread time of a request
 */
export async function startEmulateUnderTest(
  network: PrivateNetwork,
  {
    index,
    setup = {},
    wallTimeMs = patientMs,
    threadMs,
  }: {
    readonly index?: EmulateIndex;
    readonly setup?: ListenerSetup;
    readonly wallTimeMs?: number;
    readonly threadMs?: number;
  } = {},
): Promise<EmulateUnderTest> {
  const opening = openPool({ ...network, moveHead: () => undefined }, { tuning: patientPool });
  const { pool } = opening;
  const register = new Registry();
  const tvm = createTvm({ workers: 2, wallTimeMs }, { register, logger: pino({ level: 'silent' }), now });
  const snapshots = createChainSnapshots({ trust: 'verified' }, { pool, tvm, now });
  const detector = createDetector({ network: 'custom' }, { register });
  let requests = 0;
  const answers = createTraceAnswers(
    { testOnly: false },
    {
      snapshots,
      detector,
      index,
      headSeqno: () => pool.head()?.block.seqno,
      randomBytes: (count) => Buffer.alloc(count, ++requests),
      register,
      now,
      ...(threadMs !== undefined && { threadMs }),
    },
  );
  const emulate = createEmulate([emulateTraceOperation(answers), emulateTonConnectOperation(answers)]);
  const listener = await startListener({
    ...setup,
    options: { requestTimeoutMs: patientMs, ...setup.options },
    dependencies: { emulate, ...setup.dependencies },
  });
  const client = createEmulateClient(listener.url, JSON.parse(JSON.stringify(describeEmulate(emulate))) as OpenApi);

  async function served(): Promise<void> {
    const { seqno } = network.head().id;
    while ((pool.head()?.block.seqno ?? 0) < seqno) await new Promise((done) => setTimeout(done, 5));
  }

  await served();
  return {
    network,
    pool,
    snapshots,
    detector,
    register,
    listener,
    emulate: (body, headers) => client.post('emulateTrace', body, headers),
    emulateTonConnect: (body) => client.post('emulateTonConnect', body),
    async step() {
      await network.step();
      await served();
    },
    async close() {
      await listener.close();
      await tvm.close();
      await opening.close();
      await network.close();
    },
  };
}

/** Transaction of an answer, as far as tests read it. */
export type ShownTransaction = {
  readonly account: string;
  readonly hash: string;
  readonly lt: string;
  readonly now: number;
  readonly emulated: boolean;
  readonly in_msg: { readonly hash: string; readonly source: string | null };
  readonly out_msgs: readonly { readonly hash: string; readonly destination: string | null }[];
  readonly account_state_before: ShownState;
  readonly account_state_after: ShownState;
};

type ShownState = {
  readonly hash: string;
  readonly balance: string;
  readonly extra_currencies: object;
  readonly account_status: string;
  readonly data_hash: string | null;
  readonly code_hash: string | null;
};

type ShownNode = { readonly tx_hash: string; readonly in_msg_hash: string; readonly children: readonly ShownNode[] };

/** Body of an answer of `emulateTrace`. */
export type ShownTrace = {
  readonly mc_block_seqno: number;
  readonly trace: ShownNode;
  readonly transactions: Readonly<Record<string, ShownTransaction>>;
  readonly actions: readonly (Record<string, unknown> & {
    readonly type: string;
    readonly details: Record<string, unknown>;
  })[];
  readonly code_cells: Readonly<Record<string, string>>;
  readonly data_cells: Readonly<Record<string, string>>;
  readonly address_book?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly rand_seed: string;
  readonly is_incomplete: boolean;
  readonly overridden?: boolean;
};

/** Reads an answer. Fails for another status than 200. */
export function shownIn({ status, body, text }: Reply): ShownTrace {
  if (status !== 200) throw new Error(`status ${status}: ${text}`);
  return body as ShownTrace;
}

/** Transactions in the order of the answer. */
export function transactionsIn(shown: ShownTrace): readonly ShownTransaction[] {
  return Object.values(shown.transactions);
}
