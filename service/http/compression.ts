import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** Shorter answers fit a few packets: compressing them costs more than it saves. */
const COMPRESSED_BYTES_MIN = 8192;

/**
 * Compresses answers above 8 KiB with gzip for callers that accept it, off the event loop. All clients support gzip, and a better ratio
 * costs more CPU. Bodies of requests are not decompressed.
 */
export function compressAnswers(app: FastifyInstance): void {
  app.register(compress, { encodings: ['gzip'], threshold: COMPRESSED_BYTES_MIN, globalDecompression: false });
}
