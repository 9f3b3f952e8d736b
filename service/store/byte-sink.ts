/** Growing bytes, big-endian as in Postgres. */
export type ByteSink = {
  int16(value: number): void;
  int32(value: number): void;
  /** Wraps: an unsigned value is stored as its signed view. */
  int64(value: bigint): void;
  bytes(value: Uint8Array): void;
  text(value: string): void;
  /** Starts a length in bytes, which `endLength` fills; returns its position. */
  beginLength(): number;
  endLength(place: number): void;
  readonly length: () => number;
  /** Returns the written bytes; the sink is empty again. */
  take(): Buffer;
};

/** @param size bytes to begin with */
export function createByteSink(size: number): ByteSink {
  let buffer = Buffer.allocUnsafeSlow(size);
  let view = new DataView(buffer.buffer);
  let at = 0;

  /** Place of `count` bytes more; `buffer` and `view` may be others afterwards. */
  const reserve = (count: number): number => {
    const place = at;
    at += count;
    if (at > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at));
      larger.set(buffer.subarray(0, place));
      buffer = larger;
      view = new DataView(buffer.buffer);
    }
    return place;
  };

  return {
    int16: (value) => {
      const place = reserve(2);
      view.setInt16(place, value);
    },
    int32: (value) => {
      const place = reserve(4);
      view.setInt32(place, value);
    },
    int64: (value) => {
      const place = reserve(8);
      view.setBigInt64(place, value);
    },
    bytes: (value) => {
      const place = reserve(value.length);
      buffer.set(value, place);
    },
    text: (value) => {
      const place = reserve(Buffer.byteLength(value));
      buffer.write(value, place);
    },
    beginLength: () => reserve(4),
    endLength: (place) => view.setInt32(place, at - place - 4),
    length: () => at,
    take() {
      const taken = buffer.subarray(0, at);
      buffer = Buffer.allocUnsafeSlow(size);
      view = new DataView(buffer.buffer);
      at = 0;
      return taken;
    },
  };
}
