import { trace } from '@opentelemetry/api';
import { pino, type Logger } from 'pino';
import { Registry } from 'prom-client';

import { createStore, type Store, type StoreDependencies, type StoreOptions } from '#service/store/store.ts';
import { createDatabase } from './stores.ts';

/** A store on a database of its own; `another` is a further process's on the same one. */
export type StoreUnderTest = {
  readonly store: Store;
  readonly url: string;
  another(options?: Partial<StoreOptions>): Store;
  close(): Promise<void>;
};

/** @param template a database that it begins as a copy of */
export async function createStoreUnderTest(
  testFile: string,
  options: Partial<StoreOptions> = {},
  template?: string,
): Promise<StoreUnderTest> {
  const database = await createDatabase(testFile, template);
  const opened: Store[] = [];
  const another = (more: Partial<StoreOptions> = {}): Store => {
    const store = openStore({ url: database.url, ...options, ...more });
    opened.push(store);
    return store;
  };
  return {
    store: another(),
    url: database.url,
    another,
    async close() {
      await Promise.all(opened.map((store) => store.close()));
      await database.close();
    },
  };
}

/** A store with what its process gives it: quiet, measured by nobody, in real time, unless the test says otherwise. */
export function openStore(
  options: Partial<StoreOptions> & { readonly url: string },
  logger: Logger = pino({ level: 'silent' }),
  { register = new Registry(), clock = () => performance.now() }: Partial<StoreDependencies> = {},
): Store {
  return createStore(
    { schema: 'ton', poolSize: 4, statementTimeoutMs: 60_000, ...options },
    { logger, register, tracer: trace.getTracer('test'), clock },
  );
}
