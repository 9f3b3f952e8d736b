import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { indexNodeOptions } from '#operator/desired/pod.ts';
import { startNetwork } from '#test/support/api-processes.ts';
import { putCode } from '#test/support/put-contract.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { orderWithSharedMembers, type HostileInput, type HostileRequest } from './inputs.ts';

/** A private network with its index, and an API over it in a process of its own. Hostile contracts are in place. */
export type Scene = {
  /** The API. */
  readonly service: ServiceProcess;
  /** Requests of the input, one after another. */
  readonly requestOf: (input: HostileInput) => HostileRequest;
  close(): Promise<void>;
};

/** Orders that share the members, beside the demonstration's. */
const orders = 8;

/** The index has the demonstration's order within this time, even on a busy machine. */
const indexedWithinMs = 120_000;

export async function openScene(inputs: readonly HostileInput[]): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-hostile-'));
  const parts: { stop(): Promise<unknown> }[] = [];
  const close = async (): Promise<void> => {
    for (const part of parts.toReversed()) await part.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const network = await startNetwork(['--index', '--data', folder]);
    parts.push(network);
    for (const { name, code } of inputs) if (code !== undefined) await putCode(network.service, addressOf(name), code);
    const postgresFile = join(folder, 'postgres/url');
    const multisig = await putOrders(readFileSync(postgresFile, 'utf8'));
    const service = await startApi(network.manifest(databaseSpec), folder, postgresFile);
    parts.push(service);
    return {
      service,
      requestOf({ name, request }) {
        const { path, body } = request(addressOf(name));
        const filter = path.includes('multisig/orders') ? `&multisig_address=${multisig}` : '';
        return { path: `${path}${filter}`, ...(body !== undefined && { body }) };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const databaseSpec = { surfaces: ['v2', 'v3'], postgres: { secretRef: { name: 'database' } } };

/** The API with the settings of its pod. */
function startApi(manifest: string, folder: string, postgresFile: string): Promise<ServiceProcess> {
  const file = join(folder, 'tonapi.yaml');
  writeFileSync(file, manifest);
  return startService(['api', '--manifest', file, '--postgres-file', postgresFile], {
    environment: { MALLOC_ARENA_MAX: '1' },
    flags: indexNodeOptions.split(' '),
  });
}

function addressOf(name: string): string {
  return `0:${createHash('sha256').update(name).digest('hex')}`;
}

/** Makes the demonstration's order, and copies of it, orders of shared members. @returns the multisig, raw */
async function putOrders(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const deadlineMs = performance.now() + indexedWithinMs;
    for (;;) {
      const { rows } = await client.query<{ multisig: Buffer }>('SELECT multisig FROM ton.multisig_orders');
      const [row] = rows;
      if (row !== undefined) {
        await client.query('UPDATE ton.multisig_orders SET order_boc = $1', [orderWithSharedMembers().toBoc()]);
        await client.query(copies, [orders]);
        return `${row.multisig[0]! - 128}:${row.multisig.toString('hex', 1)}`;
      }
      if (performance.now() > deadlineMs) throw new Error('the index has no order of a multisig');
      await sleep(500);
    }
  } finally {
    await client.end();
  }
}

const columns = `multisig, order_seqno, threshold, sent_for_execution, approvals_mask, approvals_num, expiration_date, order_boc, signers, last_trans_lt,
  code_hash, data_hash`;
const copies = `INSERT INTO ton.multisig_orders (address, ${columns})
  SELECT '\\x80'::bytea || sha256(address || convert_to(n::text, 'UTF8')), ${columns} FROM ton.multisig_orders, generate_series(1, $1::int) AS n`;
