import { Agent, request } from 'undici';

import { PAGE_BYTES_MAX, type PodFetch } from './reconcile/pod-reports.ts';

/** Connections to pods are not reused: the operator asks each pod once a minute. */
const agent = new Agent({ keepAliveTimeout: 1, connections: 1 });

/** Reads a page of a pod at its address. */
export const fetchFromPod: PodFetch = async (address, port, path, signal) => {
  const host = address.includes(':') ? `[${address}]` : address;
  const { body, statusCode } = await request(`http://${host}:${port}${path}`, { dispatcher: agent, signal });
  let text = '';
  for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    if (text.length > PAGE_BYTES_MAX) throw new RangeError(`${path} of ${address} is longer than ${PAGE_BYTES_MAX}`);
  }
  if (statusCode !== 200) throw new Error(`${path} of ${address}: ${statusCode}`);
  return text;
};
