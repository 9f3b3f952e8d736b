import { startApiUnderTest, type ApiUnderTest, type ApiUnderTestOptions } from './api.ts';
import { createRecordedIndex } from './recorded-index.ts';
import type { StoreUnderTest } from './store.ts';
import { createV3Judge } from './v3-reference.ts';

/** Values of a query; lists repeat their name. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export type V3Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** What is wrong with it by the published contract; empty when nothing is, or when that is not here. */
  readonly flaws: readonly unknown[];
};

/** The whole service in this process over the recorded chain: its lite servers, and the index of it to the last block. */
export type V3UnderTest = {
  readonly api: ApiUnderTest;
  readonly index: StoreUnderTest;
  get(operation: string, query?: Query, headers?: Readonly<Record<string, string>>): Promise<V3Answer>;
  post(operation: string, body: unknown): Promise<V3Answer>;
  close(): Promise<void>;
};

/** @param createIndex `createClassifiedIndex`: with contracts, transfers and actions */
export async function startV3UnderTest(
  testFile: string,
  options: ApiUnderTestOptions = {},
  createIndex: (testFile: string) => Promise<StoreUnderTest> = createRecordedIndex,
): Promise<V3UnderTest> {
  const index = await createIndex(testFile);
  const api = await startApiUnderTest({
    behindBlocks: 0,
    postgresUrl: index.url,
    requestTimeoutMs: 120_000,
    ...options,
  });
  const judge = createV3Judge();
  const ask = async (
    method: 'GET' | 'POST',
    operation: string,
    search: string,
    init: RequestInit,
  ): Promise<V3Answer> => {
    const path = `/api/v3/${operation}`;
    const headers = { 'x-api-key': api.key, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(`${api.api.url}${path}${search}`, { ...init, method, headers });
    const body: unknown = await response.json();
    const { status } = response;
    return {
      status,
      headers: response.headers,
      body,
      // Of a large answer a second's work: only for who looks.
      get flaws() {
        return judge.flaws({ path, method, status }, body);
      },
    };
  };
  return {
    api,
    index,
    get: (operation, query = {}, headers = {}) => ask('GET', operation, `?${queryText(query)}`, { headers }),
    post: (operation, body) => ask('POST', operation, '', { body: JSON.stringify(body) }),
    async close() {
      await api.close();
      await index.close();
    },
  };
}

function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of [value].flat()) search.append(name, String(item));
  }
  return search.toString();
}
