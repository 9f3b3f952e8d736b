import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import type { Store } from '#service/store/store.ts';
import { openPool, type PoolUnderTest } from '../pool/network.ts';
import { patientPool } from './index-under-test.ts';
import type { RecordedNetwork } from './recorded-network.ts';

/** Every connection to the database but the one that asks. */
export async function cutConnections(store: Store): Promise<void> {
  await store.transaction(({ query }) =>
    query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    ),
  );
}

export type KilledProcess = {
  /** A module, and what it takes as arguments. */
  readonly script: string;
  readonly url: string;
  readonly network: RecordedNetwork;
  /** True when it has done enough of its work. */
  readonly isEnough: () => Promise<boolean>;
  /** How much longer it lives then, in milliseconds. */
  readonly moreMs: number;
};

/** Starts a process on a database and the recorded network, and kills it in the middle of its work. */
export async function runAndKill({ script, url, network, isEnough, moreMs }: KilledProcess): Promise<void> {
  const process = spawn(globalThis.process.execPath, [script, url, JSON.stringify(argumentsOf(network))], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = once(process, 'exit');
  try {
    for (let looks = 0; looks < 6_000 && !(await isEnough()); looks++) {
      if (process.exitCode !== null) throw new Error('the process ended on its own');
      await sleep(10);
    }
    await sleep(moreMs);
  } finally {
    process.kill('SIGKILL');
    await ended;
  }
}

type NetworkArguments = {
  readonly zero: { readonly rootHash: Buffer; readonly fileHash: Buffer };
  readonly liteServers: readonly { readonly host: string; readonly port: number; readonly publicKey: Buffer }[];
};

/** What a process needs to connect to the recorded network. */
function argumentsOf({ network }: RecordedNetwork): unknown {
  return {
    zero: rootAndFile(network.chain.zeroStates[0]!.id),
    liteServers: network.liteServers.map(({ host, port, publicKey }) => ({ host, port, publicKey })),
  };
}

/** The place of a block holds numbers that JSON does not know. */
function rootAndFile({ rootHash, fileHash }: BlockId): object {
  return { workchain: -1, rootHash, fileHash, seqno: 0 };
}

/** In such a process: the URL of its database, and a pool over the network. It does not outlive who started it. */
export function openAsProcess(): PoolUnderTest & { readonly url: string; readonly zero: NetworkArguments['zero'] } {
  const [, , url = '', network = ''] = process.argv;
  process.stdin.once('end', () => process.exit()).resume();
  // Bytes are what `Buffer` makes of itself in JSON.
  const { zero, liteServers } = JSON.parse(network, (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
      ? Buffer.from((value as unknown as { data: number[] }).data)
      : value,
  ) as NetworkArguments;
  const chain = { zeroStates: [{ id: { ...zero, shard: FULL_SHARD } }] };
  return { url, zero, ...openPool({ liteServers, chain } as unknown as Devchain, { tuning: patientPool }) };
}
