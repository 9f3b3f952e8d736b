import { parseAddress } from '#service/decode/address.ts';
import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { badArgument } from '../chain/errors.ts';
import type { FundedAccount } from '../production/faucet.ts';

/** Parameters of a call by name, as they came. */
export type Fields = Readonly<Record<string, unknown>>;

/** All coins of the main network, a thousand times: more does not add up in 120 bits with the rest. */
const NANOTONS_MAX = 5_000_000_000_000_000_000_000n;

/** Largest amount of `Coins`. */
export const COINS_MAX = 2n ** 120n - 1n;

/** Most levels of code and data: the network's limit for contracts. */
const STATE_DEPTH_MAX = 512;

const NAME_CHARACTERS_MAX = 64;

// Every function throws DevchainError `bad_argument` naming the field.

/** An account of workchain 0 or -1. */
export function readPlace(fields: Fields, field = 'address'): FundedAccount {
  const text = fields[field];
  const address = typeof text === 'string' ? parseAddress(text.trim()) : undefined;
  if (address === undefined) {
    throw badArgument(field, 'expected an account address, raw (0:64 hex digits) or friendly (48 characters)');
  }
  const { workchain, id } = address;
  if (workchain !== 0 && workchain !== -1) {
    throw badArgument(field, `expected one of workchain 0 or -1, got workchain ${workchain}`);
  }
  return { workchain, id };
}

export function readInteger(fields: Fields, field: string, min: number, max: number): number {
  const value = fields[field];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw badArgument(field, `expected a whole number from ${min} to ${max}, got ${shown(value)}`);
  }
  return value;
}

/** @param unit of the error text */
export function readUnits(fields: Fields, field: string, unit: string, max = NANOTONS_MAX): bigint {
  const value = fields[field];
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,40}$/.test(text) || BigInt(text) > max) {
    throw badArgument(field, `expected ${unit}, digits alone, at most ${max}, got ${shown(value)}`);
  }
  return BigInt(text);
}

export function readBoolean(fields: Fields, field: string, standard: boolean): boolean {
  const value = fields[field];
  if (value === undefined) return standard;
  if (typeof value !== 'boolean') throw badArgument(field, `expected true or false, got ${shown(value)}`);
  return value;
}

/** Undefined when absent. A name has a letter: a number means the number of a snapshot. */
export function readName(fields: Fields, field: string): string | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  const isName = typeof value === 'string' && /^[\w .:-]+$/.test(value) && /[A-Za-z_]/.test(value);
  if (!isName || value.length > NAME_CHARACTERS_MAX) {
    throw badArgument(field, `expected 1 to ${NAME_CHARACTERS_MAX} letters, digits and _ . : -, got ${shown(value)}`);
  }
  return value;
}

/** Reads a bag with one root, within the limits of a network's account. */
export function readBag(fields: Fields, field: string): Boc {
  const text = fields[field];
  if (typeof text !== 'string') throw badArgument(field, `expected a bag of cells in base64, got ${shown(text)}`);
  const boc = parseOr(Buffer.from(text, 'base64'), () =>
    badArgument(field, 'expected a bag of cells in base64, got something else'),
  );
  if (boc.roots.length !== 1) {
    throw badArgument(field, 'expected a bag of one cell and those below it, got one of several roots');
  }
  const depth = boc.depth(boc.roots[0]!);
  if (depth > STATE_DEPTH_MAX) {
    throw badArgument(field, `expected cells of a depth of at most ${STATE_DEPTH_MAX}, got ${depth}`);
  }
  return boc;
}

function parseOr(bytes: Buffer, refusal: () => Error): Boc {
  try {
    const boc = parseBoc(bytes);
    // Checks the hashes in Merkle cells.
    for (const root of boc.roots) boc.hash(root);
    return boc;
  } catch {
    throw refusal();
  }
}

/** Renders a given value, short enough for a message. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item));
  if (text === undefined) return 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
