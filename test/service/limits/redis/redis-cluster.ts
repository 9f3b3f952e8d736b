import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { Authority } from '#test/support/certificate.ts';
import { freePort } from '#test/support/free-port.ts';

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

/**
 * Starts a cluster of three nodes over TLS that let clients in by a certificate of the authority. Tests command them at their plain ports.
 */
export async function startTlsRedisCluster(authority: Authority): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-cluster-'));
  const { certificate, key } = authority.issue({ commonName: 'redis', hosts: ['127.0.0.1'] });
  const files = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  const tls = Object.entries({ cert: 'tls.crt', key: 'tls.key', 'ca-cert': 'ca.crt' }).flatMap(([option, name]) => [
    `--tls-${option}-file`,
    join(folder, name),
  ]);
  const started = await Promise.all(
    [0, 1, 2].map(async (index) => {
      const [port, bus] = [await freePort(), await freePort()];
      const ports = ['--tls-port', `${port}`, '--cluster-port', `${bus}`, '--tls-cluster', 'yes'];
      const node = await startClusterNode(folder, `nodes-${index}.conf`, ...ports, '--tls-auth-clients', 'yes', ...tls);
      return { node, port, bus };
    }),
  );
  const nodes = started.map(({ node }) => node);
  const bounds = [0, 5461, 10_923, slotCount];
  const [first] = started;
  for (const [index, node] of nodes.entries()) {
    await node.command('CLUSTER', 'ADDSLOTSRANGE', `${bounds[index]}`, `${(bounds[index + 1] ?? 0) - 1}`);
    await node.command('CLUSTER', 'MEET', '127.0.0.1', `${first?.port}`, `${first?.bus}`);
  }
  for (const node of nodes) await untilMet(node);
  return {
    url: `rediss+cluster://${started.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
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
