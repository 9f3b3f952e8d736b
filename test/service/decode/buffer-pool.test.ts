import { afterAll, describe, expect, it } from 'vitest';

import { tuneBufferPool } from '#service/decode/buffer-pool.ts';

describe('pages of the buffer pool', () => {
  const { poolSize } = Buffer;
  afterAll(() => {
    Buffer.poolSize = poolSize;
  });

  it('one short buffer that lives on keeps 1 KiB alive, not 64', () => {
    tuneBufferPool();
    const texts = [
      Buffer.from('ab'.repeat(100), 'hex'),
      Buffer.from('short text'),
      Buffer.from('AAAA'.repeat(600), 'base64'),
    ];
    for (const one of texts) expect(one.buffer.byteLength).toBeLessThan(Math.max(2048, one.length + 1));
  });
});
