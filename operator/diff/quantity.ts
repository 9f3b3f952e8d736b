const suffixes: Readonly<Record<string, readonly [factor: bigint, divisor: bigint]>> = {
  n: [1n, 1_000_000_000n],
  u: [1n, 1_000_000n],
  m: [1n, 1000n],
  '': [1n, 1n],
  k: [1000n, 1n],
  M: [1000n ** 2n, 1n],
  G: [1000n ** 3n, 1n],
  T: [1000n ** 4n, 1n],
  P: [1000n ** 5n, 1n],
  E: [1000n ** 6n, 1n],
  Ki: [1024n, 1n],
  Mi: [1024n ** 2n, 1n],
  Gi: [1024n ** 3n, 1n],
  Ti: [1024n ** 4n, 1n],
  Pi: [1024n ** 5n, 1n],
  Ei: [1024n ** 6n, 1n],
};

/** Precision of the API server: it rounds up to a billionth. */
const SCALE = 1_000_000_000n;

/** Longest text that is read as an amount. The API server writes far shorter texts. */
const TEXT_LENGTH_MAX = 64;

/** Billionths of a Kubernetes amount (`250m`, `0.5`, `1Gi`, `1e3`), rounded up as in the API server. Undefined for any other text. */
export function quantity(value: unknown): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value);
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const match = /^([+-]?)(\d+)?(?:\.(\d*))?(?:[eE]([+-]?\d{1,2})|(n|u|m|k|M|G|T|P|E|[KMGTPE]i)?)$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const power = Number(exponent);
  const [factor, divisor] = suffixes[suffix] ?? [1n, 1n];
  const above = BigInt(whole + fraction) * factor * SCALE * 10n ** BigInt(Math.max(0, power));
  const below = divisor * 10n ** BigInt(fraction.length) * 10n ** BigInt(Math.max(0, -power));
  const amount = (above + below - 1n) / below;
  return sign === '-' ? -amount : amount;
}

/** Billionths rounded up to whole thousandths, as the API server stores amounts of resources. */
export function roundedUp(billionths: bigint): bigint {
  const rest = billionths % THOUSANDTH;
  return rest > 0n ? billionths - rest + THOUSANDTH : billionths - rest;
}

const THOUSANDTH = SCALE / 1000n;
