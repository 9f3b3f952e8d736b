import { methodIdOf } from '../live/method-id.ts';
import known from './account-interfaces.json' with { type: 'json' };

/** What is known of an account's code. */
export type AccountCode = {
  /** Representation hash, standard base64; null without code. */
  readonly codeHash: string | null;
  /** Ids of the method dictionary; null when the code has none that can be read. */
  readonly methods: readonly number[] | null;
};

type KnownInterface = {
  readonly name: string;
  readonly methods?: readonly string[];
  readonly codeHashes?: readonly string[];
};

const interfaces: readonly KnownInterface[] = known;

const nameByCodeHash: ReadonlyMap<string, string> = new Map(
  interfaces.flatMap(({ name, codeHashes = [] }) => codeHashes.map((hash) => [hash, name] as const)),
);

/** Interfaces that code can be known to have by its methods, by name. */
const methodSets: readonly (readonly [name: string, methods: readonly number[]])[] = interfaces
  .flatMap(({ name, methods = [] }) => (methods.length === 0 ? [] : [[name, methods.map(methodIdOf)] as const]))
  .toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * The interfaces of an account by name (service/v3/README.md#interface-names): that of its very code alone, else all whose methods it has, sorted; empty when nothing
 * is known of it.
 */
export function interfacesOf({ codeHash, methods }: AccountCode): readonly string[] {
  const exact = codeHash === null ? undefined : nameByCodeHash.get(codeHash);
  if (exact !== undefined) return [exact];
  if (methods === null || methods.length === 0) return [];
  const has = new Set(methods);
  return methodSets.filter(([, wanted]) => wanted.every((id) => has.has(id))).map(([name]) => name);
}
