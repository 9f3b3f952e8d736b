import { BlockList, isIP, isIPv4 } from 'node:net';

import { operationNamed } from '../config/operation-names.ts';

/** Permissions of a key. Keys with equal terms may share one object. */
export type KeyTerms = {
  readonly plan: string;
  /** Keys of one owner share one budget; a key without owner has its own. */
  readonly owner?: string;
  /** Networks the key is issued for; every network when absent. */
  readonly networks?: readonly string[];
  /** Unix milliseconds from which the key is unknown; the key never expires when absent. */
  readonly notAfterMs?: number;
  /** Operations the key may call; all when absent. */
  readonly allowedMethods?: ReadonlySet<string>;
  /** Addresses the key may be used from; all when absent. */
  readonly allowedSources?: BlockList;
  /** Values that replace the plan's; whole numbers. */
  readonly overrides?: { readonly requestsPerSecond?: number; readonly burst?: number };
};

/** Most characters of the name of a plan, owner, network or operation. */
const NAME_LENGTH_MAX = 253;

/** Most operations of a key; a TonApiKey has the same bound. */
const METHODS_MAX = 128;
const SOURCES_MAX = 32;

/** Highest rate of a key, above any plan. Larger numbers lose exactness in a bucket. */
const RATE_MAX = 1_000_000;

const overrideFields: ReadonlySet<string> = new Set(['requestsPerSecond', 'burst']);

/**
 * Reads the terms in a row of the keyring file. Problems name the field and the expected form, not the value. A key pasted into the wrong field must
 * not reach a log. The result counts only when no problem was added.
 */
export function readTerms(row: Readonly<Record<string, unknown>>, path: string, problems: string[]): KeyTerms {
  const { plan, owner, networks, notAfter, allowedMethods, allowedSources, overrides } = row;
  const notAfterMs = typeof notAfter === 'string' ? Date.parse(notAfter) : Number.NaN;
  const expect = (holds: boolean, field: string, expected: string): void => {
    if (!holds) problems.push(`${path}.${field}: expected ${expected}`);
  };
  expect(isText(plan), 'plan', 'the name of a plan');
  expect(owner === undefined || isText(owner), 'owner', 'a name');
  expect(networks === undefined || isTexts(networks), 'networks', 'an array of network names');
  expect(notAfter === undefined || !Number.isNaN(notAfterMs), 'notAfter', 'an RFC 3339 time');
  expect(
    allowedMethods === undefined || (isTexts(allowedMethods) && allowedMethods.length <= METHODS_MAX),
    'allowedMethods',
    `an array of at most ${METHODS_MAX} operations`,
  );
  const sources = allowedSources === undefined ? undefined : readSources(allowedSources);
  expect(sources !== null, 'allowedSources', `an array of at most ${SOURCES_MAX} CIDR ranges`);
  expect(overrides === undefined || isOverrides(overrides), 'overrides', 'whole requestsPerSecond and burst');
  return {
    plan: String(plan),
    ...(isText(owner) && { owner }),
    ...(isTexts(networks) && { networks }),
    ...(notAfter !== undefined && { notAfterMs }),
    ...(isTexts(allowedMethods) && { allowedMethods: new Set(allowedMethods.map(operationOf)) }),
    ...(sources instanceof BlockList && { allowedSources: sources }),
    ...(isOverrides(overrides) && { overrides }),
  };
}

/** Requests have the name of their operation, whatever alias their path has. */
function operationOf(name: string): string {
  return operationNamed(name) ?? name;
}

/** Reports whether an IPv4 or IPv6 address is in one of the ranges. IPv4 mapped into IPv6 counts as IPv4. Text that is no address is in no range. */
export function inSources(sources: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && sources.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Returns null when an element is no range. */
function readSources(value: unknown): BlockList | null {
  if (!isTexts(value) || value.length > SOURCES_MAX) return null;
  const list = new BlockList();
  for (const range of value) {
    const [address = '', length = '', ...rest] = range.split('/');
    const bits = Number(length);
    const bitsMax = isIPv4(address) ? 32 : 128;
    if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(length) || bits > bitsMax) return null;
    list.addSubnet(address, bits, isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

function isOverrides(value: unknown): value is NonNullable<KeyTerms['overrides']> {
  return (
    isRecord(value) &&
    Object.entries(value).every(
      ([name, number]) =>
        overrideFields.has(name) && Number.isSafeInteger(number) && Number(number) >= 1 && Number(number) <= RATE_MAX,
    )
  );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= NAME_LENGTH_MAX;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
