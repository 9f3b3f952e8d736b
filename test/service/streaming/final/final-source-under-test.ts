import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { Store } from '#service/store/store.ts';
import type { Change } from '#service/streaming/changes.ts';
import {
  createFinalSource,
  type FinalSource,
  type FinalSourceDependencies,
  type FinalSourceOptions,
} from '#service/streaming/final/final-source.ts';
import { createAccountLabelCache } from '#service/v3/annotations/account-label-cache.ts';
import { createAddressBooks } from '#service/v3/annotations/address-book.ts';
import { createAnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';
import { createTokenMetadata } from '#service/v3/annotations/metadata.ts';
import { createTokenInfoCache } from '#service/v3/annotations/token-info-cache.ts';
import { createCacheMetrics } from '#service/v3/metrics.ts';

export type FinalSourceUnderTest = {
  readonly register: Registry;
  readonly source: FinalSource;
  /** Changes of each block that was given, in order. */
  readonly given: readonly (readonly Change[])[];
  /** Opens or closes the only connection. */
  want(isWanted: boolean): void;
  /** Resolves when the source may give no further block until `release` is called. */
  hold(): void;
  release(): void;
};

const clock = (): number => performance.now();

const nothing = (): void => {};

export function startFinalSource(
  store: Pick<Store, 'read' | 'transaction'>,
  options: FinalSourceOptions = { pollMs: 5 },
  listen?: FinalSourceDependencies['listen'],
): FinalSourceUnderTest {
  const register = new Registry();
  const metrics = createCacheMetrics(register);
  const accounts = createAccountLabelCache({ testOnly: false }, { clock, metrics });
  const tokens = createTokenInfoCache({}, { clock, metrics, wanted: () => {} });
  const notes = createAnswerAnnotations({
    accounts,
    ...createAddressBooks({ accounts }),
    ...createTokenMetadata({ accounts, tokens }),
  });
  const given: (readonly Change[])[] = [];
  let isWanted = false;
  let gate = Promise.resolve();
  let open = nothing;
  const source = createFinalSource(options, {
    store,
    register,
    notes,
    network: { testOnly: false },
    ...(listen && { listen }),
    onChanges: async (changes) => {
      given.push(changes);
      await gate;
    },
    isWanted: () => isWanted,
    logger: pino({ level: 'silent' }),
    random: () => 0.5,
    unixMs: () => Date.now(),
    clock,
  });
  return {
    register,
    source,
    given,
    want: (wanted) => void (isWanted = wanted),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      open = resolve;
    },
    release: () => open(),
  };
}
