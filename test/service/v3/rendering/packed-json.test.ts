import { constants, zstdCompressSync } from 'node:zlib';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CachedJson } from '#service/runtime/json-cache.ts';
import { batchesOf, packJson, unpackJson } from '#service/v3/rendering/packed-json.ts';
import type { StoredTrace } from '#service/v3/rendering/stored-trace.ts';
import { anyText } from '#test/support/any-text.ts';

const names: StoredTrace = {
  warning: undefined,
  accounts: ['0:00', '-1:FF'],
  messages: 7,
  treeBytes: 3,
  orderBytes: 2,
};

/** Of the beginning of most transactions. */
const known = '"total_fees_extra_currencies":{},"description":{"type":"ord","aborted":false,"destroyed":true';

const unpackTrace = (packed: Buffer): CachedJson<StoredTrace> | undefined => unpackJson<StoredTrace>([packed])?.[0];

describe('packed traces', () => {
  it('unpack to what was packed', () => {
    const part = fc.oneof(
      anyText(),
      anyText().map((text) => Buffer.from(text)),
    );
    const others = fc.record({
      warning: fc.option(fc.string(), { nil: undefined }),
      accounts: fc.array(fc.string()),
      messages: fc.nat(),
      treeBytes: fc.nat(),
      orderBytes: fc.nat(),
    });
    const trace = fc.record({ parts: fc.array(part), names: others });
    fc.assert(
      fc.property(fc.array(trace, { minLength: 1 }), (traces) => {
        const unpacked = unpackJson<StoredTrace>(traces.map((one) => packJson(one)!));
        expect(unpacked?.map((kept) => kept.names)).toEqual(traces.map((one) => one.names));
        expect(unpacked?.map((kept) => kept.text.toString())).toEqual(traces.map(({ parts }) => parts.join('')));
      }),
    );
  });

  it('packed traces take less than a fifth of their JSON', () => {
    const text = JSON.stringify(Array.from({ length: 500 }, (_, lt) => ({ account: '0:00', lt })));
    expect(packJson({ parts: [text], names })!.length).toBeLessThan(text.length / 5);
  });

  it('hold 2 MiB at most', () => {
    const head = 4 + Buffer.byteLength(JSON.stringify(names));
    const most = Buffer.alloc(2 * 1024 * 1024 - head, 'ab');
    expect(unpackTrace(packJson({ parts: [most], names })!)?.text.equals(most)).toBe(true);
    expect(packJson({ parts: [most, 'c'], names })).toBeUndefined();
  });

  it('unpack where they were packed by a release before', () => {
    const packed =
      'KLUv/SSoXQIA5AIAAABHe3MiOlsiMDotMTpGRiJdcyI6NywidHJlZUJ5dDMsIm9yZGVyMn10cnVlCABUrnOCh2EF4HUilulczPX9CdWwH5qhvk8LC2EWvg==';
    expect(unpackTrace(Buffer.from(packed, 'base64'))).toEqual({ text: Buffer.from(known), names });
  });

  it('of another dictionary are none', () => {
    const head = JSON.stringify(names);
    const bytes = Buffer.concat([Buffer.of(0, 0, 0, head.length), Buffer.from(head + known)]);
    const dictionary = Buffer.from(head + known.toUpperCase());
    const params = { [constants.ZSTD_c_checksumFlag]: 1 };
    expect(unpackTrace(zstdCompressSync(bytes, { params }))?.text.toString()).toBe(known);
    expect(unpackTrace(zstdCompressSync(bytes, { params, dictionary }))).toBeUndefined();
  });

  it('of other bytes are none', () => {
    const packed = packJson({ parts: ['text'], names })!;
    const cut = packed.subarray(0, -3);
    const flipped = Buffer.from(packed);
    flipped[0] = flipped[0]! ^ 1;
    for (const bytes of [Buffer.alloc(0), Buffer.from('no frame'), cut, flipped])
      expect(unpackTrace(bytes)).toBeUndefined();
  });

  it('are not unpacked with what is none, nor where all together are more than one may be', () => {
    const packed = ['one', 'two', 'ab'.repeat(500_000)].map((part) => packJson({ parts: [part], names })!);
    const [one, two, large] = packed as [Buffer, Buffer, Buffer];
    const foreign = zstdCompressSync(Buffer.alloc(100, 0xff));
    expect(unpackJson<StoredTrace>(packed)?.map((kept) => kept.text.length)).toEqual([3, 3, 1_000_000]);
    for (const other of [one.subarray(0, -3), Buffer.alloc(0), foreign]) {
      expect(unpackJson<StoredTrace>([one, other, two])).toBeUndefined();
    }
    expect(unpackJson<StoredTrace>([large, large, large])).toBeUndefined();
  });

  it('are unpacked some 768 KiB at once, larger ones by themselves', () => {
    const head = 4 + Buffer.byteLength(JSON.stringify(names));
    const limit = 768 * 1024;
    const sizes = [400_000, 386_432, 200, limit + 1, 300, 70_000, 1_000_000, 5000];
    const packed = new Map(sizes.map((size) => [size, packJson({ parts: [Buffer.alloc(size - head, 'ab')], names })!]));
    expect(sizes[0]! + sizes[1]!).toBe(limit);
    const batches = [...batchesOf(sizes, (size) => packed.get(size)!)];
    expect(batches).toEqual([[400_000, 386_432], [200], [limit + 1], [300, 70_000], [1_000_000], [5000]]);
    for (const batch of batches) {
      const unpacked = unpackJson<StoredTrace>(batch.map((size) => packed.get(size)!));
      expect(unpacked?.map(({ text }) => text.length + head)).toEqual(batch);
    }
  });
});
