import { randomFillSync } from 'node:crypto';

/** Items drawn at once. One call to the generator costs about as much as the bytes of a hundred items. */
const STOCK_ITEMS = 128;

/**
 * Random items of `itemBytes`, drawn in bulk. An item is a view that stays unchanged until `STOCK_ITEMS` more are taken. Use it at once or copy it.
 * @param fill the generator; `randomFillSync` unless a test needs known bytes
 */
export function createRandomStock(
  itemBytes: number,
  fill: (bytes: Buffer) => void = (bytes) => void randomFillSync(bytes),
): () => Buffer {
  const stock = Buffer.allocUnsafeSlow(itemBytes * STOCK_ITEMS);
  let used = stock.length;
  return () => {
    if (used === stock.length) {
      fill(stock);
      used = 0;
    }
    const item = stock.subarray(used, used + itemBytes);
    used += itemBytes;
    return item;
  };
}
