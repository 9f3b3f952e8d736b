/** An answer that is no success. `status` 0: no answer came. */
export class ApiError extends Error {
  readonly status: number;
  /** Milliseconds until the API takes a request again; undefined when the API does not say. */
  readonly retryAfterMs: number | undefined;
  /** Fields of the error beside its text; empty for an answer that is no JSON. */
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, retryAfterMs?: number, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.fields = fields;
  }
}

/** Parameters of a query. A list repeats its name; undefined leaves the name out. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** An answer with a page of a list. */
export type Page<T> = { readonly answer: T; readonly next: string | undefined };

/** Calls of the service's own APIs. Each rejects with an `ApiError`, or with the signal's reason when it is aborted. */
export type Api = {
  /** `GET /api/v3/<operation>`. */
  v3<T>(operation: string, query?: Query, signal?: AbortSignal): Promise<T>;
  /** The same with the cursor of the next page; undefined for the last page. */
  v3Page<T>(operation: string, query?: Query, signal?: AbortSignal): Promise<Page<T>>;
  /** `GET /api/v2/<operation>`; resolves to the `result`. */
  v2<T>(operation: string, query?: Query, signal?: AbortSignal): Promise<T>;
  /** `POST` of JSON to a path of any of the APIs. */
  post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T>;
  /** Address of a path with the key in its query, for `EventSource`, which sends no headers. */
  streamUrl(path: string, query: URLSearchParams): string;
};

/** A request that takes longer than this is away: the deadline of the API is 30 s at most. */
const TIMEOUT_MS = 45_000;

/**
 * @param origin origin of the APIs; empty: the page's own
 * @param key returns the API key of this tab; empty: none
 */
export function createApi(origin: string, key: () => string): Api {
  const call = async (
    path: string,
    init: RequestInit,
    signal?: AbortSignal,
    onHeaders: (headers: Headers) => void = () => {},
  ): Promise<unknown> => {
    const headers = new Headers(init.headers);
    if (key() !== '') headers.set('x-api-key', key());
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    let response: Response;
    try {
      response = await fetch(`${origin}${path}`, { ...init, headers, signal: either });
    } catch (error) {
      signal?.throwIfAborted();
      throw new ApiError(0, timeout.aborted ? 'no answer in time' : String(error));
    }
    const text = await response.text();
    if (!response.ok) throw refusal(response, text);
    onHeaders(response.headers);
    return parseJson(text);
  };

  return {
    v3: async <T>(operation: string, query: Query = {}, signal?: AbortSignal) =>
      (await call(`/api/v3/${operation}${queryText(query)}`, {}, signal)) as T,
    v3Page: async (operation: string, query: Query = {}, signal?: AbortSignal) => {
      let next: string | undefined;
      const answer = await call(`/api/v3/${operation}${queryText(query)}`, {}, signal, (headers) => {
        next = headers.get('x-next-cursor') ?? undefined;
      });
      return { answer: answer as never, next };
    },
    v2: async <T>(operation: string, query: Query = {}, signal?: AbortSignal) => {
      const answer = await call(`/api/v2/${operation}${queryText(query)}`, {}, signal);
      return (answer as { result: T }).result;
    },
    post: async <T>(path: string, body: unknown, signal?: AbortSignal) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return (await call(path, init, signal)) as T;
    },
    streamUrl(path, query) {
      const all = new URLSearchParams(query);
      if (key() !== '') all.set('api_key', key());
      return `${origin}${path}?${all}`;
    },
  };
}

function queryText(query: Query): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value]) parts.append(name, String(one));
  }
  const text = parts.toString();
  return text === '' ? '' : `?${text}`;
}

/** Integers beyond 2^53 stay exact: the parser returns their digits as text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
        ? context?.source
        : value,
    );
  } catch (error) {
    // The function above needs the stack for each level, and a trace may have thousands. Traces have large integers as text.
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

/** Reads the error's JSON, or the beginning of whatever else a proxy in front answers. */
function refusal({ status, headers }: Response, body: string): ApiError {
  let fields: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) fields = value as Record<string, unknown>;
  } catch {
    // The text itself is shown.
  }
  const { error } = fields;
  return new ApiError(status, typeof error === 'string' ? error : body.slice(0, 200), pauseOf(headers), fields);
}

function pauseOf(headers: Headers): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
