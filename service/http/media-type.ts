import type { IncomingMessage } from 'node:http';

/** True when exactly one header declares `application/json`, with or without parameters. */
export function isJson({ headersDistinct }: IncomingMessage): boolean {
  const [declared = '', ...further] = headersDistinct['content-type'] ?? [];
  const [type = ''] = declared.split(';', 1);
  return further.length === 0 && type.trim().toLowerCase() === 'application/json';
}
