import { knownCode } from '#service/decode/known-codes.ts';
import { methodIdOf } from '#service/tvm/method-id.ts';
import known from './account-interfaces.json' with { type: 'json' };

/** Data of an account's code. */
export type AccountCode = {
  /** Representation hash, standard base64; null without code. */
  readonly codeHash: string | null;
  /** Ids of the method dictionary; null without a readable dictionary. */
  readonly methods: readonly number[] | null;
};

/** Interfaces that the methods of code prove, by name. */
const methodSets: readonly (readonly [name: string, methods: readonly number[]])[] = known
  .map(({ name, methods }) => [name, methods.map(methodIdOf)] as const)
  .toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * Interfaces of an account by name (service/v3/README.md#interface-names). A known code hash has only its own interface; other code has all
 * interfaces whose methods it has, sorted. Empty for unknown code.
 */
export function interfacesOf({ codeHash, methods }: AccountCode): readonly string[] {
  const exact = codeHash === null ? undefined : knownCode(codeHash);
  if (exact !== undefined && exact.isInterface !== false) return [exact.name];
  if (methods === null || methods.length === 0) return [];
  const has = new Set(methods);
  return methodSets.filter(([, wanted]) => wanted.every((id) => has.has(id))).map(([name]) => name);
}
