import { badArgument } from '../chain/errors.ts';

const NANOTONS = 1_000_000_000n;

/** TON that the faucet pays in one transfer: enough to try anything, and five thousand times in all. */
const AMOUNT_MAX = 1_000_000n * NANOTONS;

/**
 * TON as a person writes them, `5`, `0.25` or `"1.5"`, as nanotons.
 * @throws DevchainError `bad_argument`
 */
export function readAmount(value: unknown): bigint {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  const parts = typeof text === 'string' ? /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text.trim()) : null;
  const nanotons = parts === null ? 0n : BigInt(parts[1]!) * NANOTONS + BigInt((parts[2] ?? '').padEnd(9, '0'));
  if (nanotons <= 0n || nanotons > AMOUNT_MAX) {
    const given = typeof text === 'string' ? text.slice(0, 40) : typeof value;
    throw badArgument('amount', `expected TON (not nanotons), above 0, at most ${AMOUNT_MAX / NANOTONS}, got ${given}`);
  }
  return nanotons;
}
