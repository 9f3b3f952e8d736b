import type { ServiceProcess } from './service-process.ts';

/** Answer of `GET /api/v3/<path>` of a running service. @throws Error for an answer that is no success */
export async function readV3<T>({ url }: Pick<ServiceProcess, 'url'>, path: string): Promise<T> {
  const response = await fetch(`${url}/api/v3/${path}`);
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  return (await response.json()) as T;
}
