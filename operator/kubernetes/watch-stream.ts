import { malformed, noAnswer } from './errors.ts';
import type { KubernetesObject } from './object.ts';

/** Line of a watch. The object of `ERROR` is a Status. */
type WatchLine = { readonly type: string; readonly object: KubernetesObject };

/** An object holds at most about 1.5 MB; a line that grows past this is not from an API server. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;

const newline = 0x0a;

const types = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

/**
 * Lines of a watch, whole and in order.
 *
 * @throws ApiError `malformed` for a line that does not parse, or an end within a line. Its content is lost, and the caller must list again.
 * @throws ApiError `unreachable` and the like for a broken connection
 */
export async function* readWatch(request: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<WatchLine> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of unbroken(request, bytes)) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      rest.push(chunk.subarray(start, end));
      const line = Buffer.concat(rest);
      rest = [];
      restBytes = 0;
      start = end + 1;
      if (line.length > 0) yield parse(request, line);
    }
    if (start < chunk.length) {
      rest.push(chunk.subarray(start));
      restBytes += chunk.length - start;
    }
    if (restBytes > LINE_BYTES_MAX) throw malformed(request, `a line of more than ${LINE_BYTES_MAX} bytes`);
  }
  if (restBytes > 0) throw malformed(request, 'the stream ended in the middle of a line');
}

/** A broken connection loses no line: the watch can continue after the last whole line. */
async function* unbroken(request: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    throw noAnswer(request, error);
  }
}

function parse(request: string, line: Buffer): WatchLine {
  let value: unknown;
  try {
    value = JSON.parse(line.toString('utf8'));
  } catch (cause) {
    throw malformed(request, 'a line that is not JSON', cause);
  }
  const { type, object } = value as { type?: unknown; object?: { metadata?: unknown } | null };
  if (typeof type !== 'string' || !types.has(type) || typeof object?.metadata !== 'object') {
    throw malformed(request, 'a line that is no watch event');
  }
  return { type, object: object as KubernetesObject };
}
