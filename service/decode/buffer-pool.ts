/** Bytes of a page. Buffers below half of a page are slices of it. */
const PAGE_BYTES = 1024;

/**
 * Makes the pages of Node's buffer pool small, in the calling thread. A page lives as long as one slice of it. A message to another thread copies the
 * page of each slice. With the usual pages of 64 KiB, caches of short buffers took some ten times their bytes. A page of 1 KiB costs a slice some 10
 * ns more.
 */
export function tuneBufferPool(): void {
  Buffer.poolSize = PAGE_BYTES;
  // The page in use is filled up: at most 128 slices of the usual size.
  while (Buffer.allocUnsafe(PAGE_BYTES / 2 - 1).buffer.byteLength > 2 * PAGE_BYTES);
}
