import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startRedisProcess, type RedisProcess } from './redis-process.ts';

export const slotCount = 16_384;

/** A Redis cluster of three nodes, each with a third of the slots. */
export type RedisCluster = {
  readonly url: string;
  readonly nodes: readonly RedisProcess[];
  /** Folder of the nodes' own records of the cluster. */
  readonly folder: string;
  close(): Promise<void>;
};

/** Starts a node that belongs to no cluster yet. It listens at its port and 10,000 above it. If a port is taken, it listens at others. */
export async function startClusterNode(folder: string, config: string, ...more: string[]): Promise<RedisProcess> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-config-file', config, '--dir', folder, ...more];
  for (let tries = 0; tries < 2; tries++) {
    const node = await startRedisProcess(...settings).catch(() => undefined);
    if (node !== undefined) return node;
  }
  return startRedisProcess(...settings);
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-cluster-'));
  const nodes = await Promise.all(
    [0, 1, 2].map((index) => startClusterNode(folder, `nodes-${index}.conf`, '--cluster-node-timeout', '700')),
  );
  const bounds = [0, 5461, 10_923, slotCount];
  for (const [index, node] of nodes.entries()) {
    await node.command('CLUSTER', 'ADDSLOTSRANGE', `${bounds[index]}`, `${(bounds[index + 1] ?? 0) - 1}`);
    await node.command('CLUSTER', 'MEET', '127.0.0.1', `${nodes[0]?.port}`);
  }
  for (const node of nodes) await untilMet(node);
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    folder,
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      rmSync(folder, { recursive: true });
    },
  };
}

async function untilMet(node: RedisProcess): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) {
    const told = String(await node.command('CLUSTER', 'INFO'));
    if (/cluster_state:ok[^]*cluster_known_nodes:3/.test(told)) return;
    await delay(50);
  }
  throw new Error('the nodes of a Redis cluster did not meet');
}
