import type { AccountId } from '../live/accounts/accounts.ts';
import { createBoundedCache } from '../runtime/bounded-cache.ts';
import type { DetectionWorld } from './detector.ts';
import type { Consultation } from './family.ts';
import type { InterfacesMetrics } from './metrics.ts';
import { rawOf } from './raw-address.ts';
import { runMethodBatch } from './method-batch.ts';

/** Cache of other contracts' answers about accounts. */
export type ContractConfirmation = {
  /** Returns undefined when the consulted contract has no code. Rejects like `ContractWorld.runMethods`. */
  consult<T>(world: DetectionWorld, subject: AccountId, consultation: Consultation<T>): Promise<T | undefined>;
};

/** Most bytes of cached answers: about some hundred thousand wallets, or ten thousand items with contents. */
const CACHED_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes of an answer without its value: two addresses in hex, a hash and the query. */
const ENTRY_BYTES = 512;

type CachedAnswer = { readonly state: Buffer; readonly about: string; readonly value: unknown };

/** A get-method depends on the state of its contract: an answer holds for that state. The cache has the last answer for each pair of subject and contract. */
export function createContractConfirmation({ visits, consultations }: InterfacesMetrics): ContractConfirmation {
  const answers = createBoundedCache({ bytesMax: CACHED_BYTES_MAX });

  return {
    async consult<T>(world: DetectionWorld, subject: AccountId, { by, about, asks, read, weigh }: Consultation<T>) {
      const { code, stateHash } = await world.readAccount(by);
      if (code === null || stateHash === null) return undefined;
      const key = `${rawOf(subject)} ${rawOf(by)}`;
      const cached = answers.get(key) as CachedAnswer | undefined;
      if (cached !== undefined && cached.about === about && cached.state.equals(stateHash)) {
        consultations.inc({ source: 'memory' });
        return cached.value as T;
      }
      consultations.inc({ source: 'emulator' });
      visits.inc({ purpose: 'consultation' });
      const value = read((await runMethodBatch(world, by, asks)).answers);
      const fresh: CachedAnswer = { state: stateHash, about, value };
      answers.set(key, fresh, ENTRY_BYTES + weigh(value));
      return value;
    },
  };
}
