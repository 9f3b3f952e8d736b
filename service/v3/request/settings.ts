/** Settings of a caller for an answer, in a header or its query twin (service/v3/README.md#transport). */
export type RequestSettings = {
  /** Time limit of the request's queries together. */
  readonly timeoutMs: number;
  /** False leaves `address_book` empty. */
  readonly addressBook: boolean;
  /** False leaves `metadata` empty. */
  readonly metadata: boolean;
  /** Actions that the caller knows; header only. */
  readonly actionsVersion: string | undefined;
};

/** A header's value as sent; undefined when absent. */
export type HeaderLookup = (name: string) => string | undefined;

/** Both the default and the most (service/v3/README.md#transport). */
export const TIMEOUT_MS_MAX = 3000;

/** Headers that `readSettings` reads, as in documents. */
export const settingHeaders = ['X-Timeout', 'X-No-Address-Book', 'X-No-Metadata', 'X-Actions-Version'] as const;

/** The same in a query. */
export const settingNames: ReadonlySet<string> = new Set(settingHeaders.map((name) => twinOf(name)));

const yes: ReadonlySet<string> = new Set(['1', 't', 'true']);

/** A header overrides its twin; an unreadable value is ignored. Never throws. */
export function readSettings(header: HeaderLookup, query: URLSearchParams): RequestSettings {
  const textOf = (name: string, twin: string): string => header(name) || query.getAll(twin).at(-1) || '';
  const flag = (name: string, twin: string): boolean => yes.has(textOf(name, twin).toLowerCase());
  return {
    timeoutMs: readTimeout(textOf('x-timeout', 'x_timeout')),
    addressBook: !flag('x-no-address-book', 'x_no_address_book'),
    metadata: !flag('x-no-metadata', 'x_no_metadata'),
    actionsVersion: header('x-actions-version') || undefined,
  };
}

function twinOf(header: string): string {
  return header.toLowerCase().replaceAll('-', '_');
}

function readTimeout(text: string): number {
  const asked = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return asked > 0 ? Math.min(asked, TIMEOUT_MS_MAX) : TIMEOUT_MS_MAX;
}
