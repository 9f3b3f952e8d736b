import { describe, expect, it } from 'vitest';

import { methodIdOf } from '#service/tvm/method-id.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { createCodeInterfaces, type CodeNote } from '#service/v3/annotations/code-interfaces.ts';

const [wallet, item, unread] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];

const methods = new Map<string, number[] | null>([
  [hashKey(wallet), [methodIdOf('get_wallet_data')]],
  [hashKey(item), [methodIdOf('get_nft_data')]],
]);

/** Codes that the index has; tells what it was asked for. */
function codesIn(known: ReadonlyMap<string, number[] | null>): { reader: StoreReader; readonly asked: Buffer[][] } {
  const asked: Buffer[][] = [];
  const reader: StoreReader = {
    read: async (_sql, [hashes]) => {
      asked.push(hashes as Buffer[]);
      const found = (hashes as Buffer[]).filter((hash) => known.has(hashKey(hash)));
      return found.map((hash) => ({ code_hash: hash, methods: known.get(hashKey(hash)) })) as never;
    },
  };
  return { reader, asked };
}

const named = (found: ReadonlyMap<string, CodeNote>, ...hashes: readonly Buffer[]) =>
  hashes.map((hash) => found.get(hashKey(hash))?.interfaces);

describe('interfaces of codes', () => {
  it('are looked up once', async () => {
    const codes = createCodeInterfaces({ bytesMax: 100_000 });
    const { reader, asked } = codesIn(methods);
    const first = await codes.of([wallet, wallet], reader);
    expect(named(first, wallet)).toEqual([['jetton_wallet']]);
    const both = await codes.of([wallet, item], reader);
    expect(named(both, wallet, item)).toEqual([['jetton_wallet'], ['nft_item']]);
    expect(named(await codes.of([item, wallet], reader), item)).toEqual([['nft_item']]);
    expect(asked).toEqual([[wallet], [item]]);
  });

  it('are looked up again where the index had none of the code', async () => {
    const codes = createCodeInterfaces({ bytesMax: 100_000 });
    const empty = codesIn(new Map());
    const [before, after] = [await codes.of([item], empty.reader), await codes.of([item], codesIn(methods).reader)];
    expect([...before.values(), ...after.values()]).toEqual([
      { interfaces: [], isKnown: false },
      { interfaces: ['nft_item'], isKnown: true },
    ]);
  });

  it('are none of code whose methods cannot be read', async () => {
    const codes = createCodeInterfaces({ bytesMax: 100_000 });
    const { reader, asked } = codesIn(new Map([[hashKey(unread), null]]));
    expect([...(await codes.of([unread], reader)).values()]).toEqual([{ interfaces: [], isKnown: true }]);
    await codes.of([unread], reader);
    await codes.of([], reader);
    expect(asked).toHaveLength(1);
  });
});
