import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { Chain, ChainBlock } from './chain/chain.ts';
import { buildChain } from './chain/chain.ts';
import { buildGlobalConfig } from './global-config.ts';
import type { GlobalConfig } from './global-config.ts';
import type { StartTimer } from './chain/head.ts';
import { createHead, startTimer } from './chain/head.ts';
import type { DevchainLiteServer, DevchainServerOptions } from './lite-servers.ts';
import { startLiteServers } from './lite-servers.ts';
import { createMethodRunner } from './queries/method-runner.ts';
import { createQueryServerMetrics } from './metrics.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import { openRecording } from './chain/recording.ts';

/** Private TON network in this process: a recorded chain that plays, and lite servers over it on real ADNL. */
export type Devchain = {
  /** In the order of the options. */
  readonly liteServers: readonly DevchainLiteServer[];
  readonly chain: Chain;
  /** Newest masterchain block of the chain. A lite server with faults may report another block. */
  head(): ChainBlock;
  /** Calls the listener after every move of the head. The returned function ends that. */
  onHead(listener: (head: ChainBlock) => void): () => void;
  /** Moves the head at once, forward only, for tests. */
  moveHead(seqno: number): void;
  /** The ecosystem's configuration file of this network: lite servers, zerostate, init block. */
  globalConfig(): GlobalConfig;
  /** Ends the play, the servers and every connection. */
  close(): Promise<void>;
};

export type DevchainOptions = {
  /** Folder with `zerostate-*.boc`, `blocks.jsonl[.gz]`, `signatures.jsonl[.gz]`. */
  readonly recordingDir: string;
  /** Seconds of one masterchain block; 0 plays all at once. Default 1, the rate of the real network. */
  readonly paceSeconds?: number;
  /** Blocks between the first head and the end of the recording. Default 300: five minutes of moving heads. */
  readonly startBehindBlocks?: number;
  /** Address of the lite servers; default 127.0.0.1. */
  readonly host?: string;
  /** Options of each lite server; default a single server on a free port. */
  readonly servers?: readonly DevchainServerOptions[];
};

export type DevchainDependencies = {
  readonly logger: Logger;
  readonly register: Registry;
  /** Unix time in milliseconds; `Date.now` when absent. */
  readonly now?: () => number;
  /** Timers of the play, of waits and of faults. */
  readonly startTimer?: StartTimer;
  /** Loaded chain, to share it between networks; else the recording is read. */
  readonly chain?: Chain;
};

/**
 * Reads a recording and rebuilds its states. Yields to other work every few milliseconds.
 * @throws DevchainError `recording_invalid`
 */
export async function loadChain(recordingDir: string): Promise<Chain> {
  const slices = createTimeSlice(undefined);
  return await buildChain(await openRecording(recordingDir, slices), slices);
}

/**
 * Loads the recording, starts the play and the lite servers. Resolves when they listen.
 * @throws DevchainError `recording_invalid`, `listen_failed`
 */
export async function createDevchain(options: DevchainOptions, dependencies: DevchainDependencies): Promise<Devchain> {
  const { paceSeconds = 1, startBehindBlocks = 300, host = '127.0.0.1', servers = [{}] } = options;
  const { logger, register, now = Date.now, startTimer: start = startTimer } = dependencies;
  const chain = dependencies.chain ?? (await loadChain(options.recordingDir));
  const firstSeqno = Math.max(1, chain.lastSeqno - startBehindBlocks);
  const head = createHead({ firstSeqno, lastSeqno: chain.lastSeqno, paceSeconds }, { startTimer: start });
  const shared = {
    chain,
    head,
    logger,
    metrics: createQueryServerMetrics(register),
    startTimer: start,
    now,
    methods: createMethodRunner(),
  };
  const serving = await startLiteServers(host, servers, shared);
  const { liteServers } = serving;
  return {
    liteServers,
    chain,
    head: () => chain.masterchain(head.seqno())!,
    onHead: (listener) => head.onMove((seqno) => listener(chain.masterchain(seqno)!)),
    moveHead: (seqno) => head.moveTo(seqno),
    globalConfig: () =>
      buildGlobalConfig({ zeroState: chain.zeroStates[0]!.id, initBlock: chain.zeroStates[0]!.id }, liteServers),
    close: () => serving.close(),
  };
}
