import { setTimeout as sleep } from 'node:timers/promises';

import { TonplaneError } from '#service/error.ts';
import { migrate, missingSteps, schemaVersion } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';

/** A database that is created together with the service is available in minutes. A longer wait needs a person. */
const PATIENCE_MS = 10 * 60_000;
const RETRY_MS = 2000;

/**
 * Migrates the schema to this release, and waits for a Postgres that is not available yet. With `plan` it only reports the migrations.
 * `print` receives a line about each action.
 *
 * @throws StoreError
 */
export async function runMigration(
  store: Store,
  { plan }: { readonly plan: boolean },
  print: (line: string) => void,
): Promise<void> {
  if (plan) {
    const steps = await missingSteps(store);
    for (const { version, name } of steps) print(`would take step ${version} (${name})`);
    if (steps.length === 0) print(`nothing to do: schema ${store.schema} has what version ${schemaVersion} needs`);
    return;
  }
  const taken = await patiently(() => migrate(store), print);
  print(
    taken.length === 0
      ? `schema ${store.schema} had what version ${schemaVersion} needs`
      : `schema ${store.schema} is at version ${taken.at(-1)}: took step ${taken.join(', ')}`,
  );
}

async function patiently<T>(work: () => Promise<T>, print: (line: string) => void): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  let printed = '';
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TonplaneError) || !error.retryable || performance.now() > deadlineMs) throw error;
      if (error.message !== printed) print(`waits for Postgres: ${error.message}`);
      printed = error.message;
      await sleep(RETRY_MS);
    }
  }
}
