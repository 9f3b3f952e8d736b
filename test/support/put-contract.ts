import { Cell } from '@ton/core';

import type { ServiceProcess } from './service-process.ts';

const balance = '1000000000000';

const bag = (cell: Cell): string => cell.toBoc().toString('base64');

/** Puts a contract at a raw address of the private network; its data are empty by default. */
export async function putCode(
  service: ServiceProcess,
  address: string,
  code: Cell,
  data: Cell = Cell.EMPTY,
): Promise<void> {
  await dev(service, 'dev_setBalance', { address, balance });
  await dev(service, 'dev_setCode', { address, code: bag(code) });
  await dev(service, 'dev_setData', { address, data: bag(data) });
}

async function dev({ internalUrl }: ServiceProcess, method: string, params: object): Promise<void> {
  const response = await fetch(`${internalUrl}/dev`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { error?: unknown };
  if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
}
