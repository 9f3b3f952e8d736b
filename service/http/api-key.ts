import { redactText } from '../telemetry/secrets.ts';

/**
 * Returns the key as sent: header `X-API-Key`, else query parameter `api_key` (service/v2/README.md#keys). An empty key counts as absent,
 * because clients without a key send it so.
 */
export function readApiKey(header: string | readonly string[] | undefined, query: URLSearchParams): string | undefined {
  const sent = typeof header === 'string' ? header : header?.[0];
  return sent || query.get('api_key') || undefined;
}

/** Names of query parameters whose value is never shown, whatever it is. */
const secretName = /key|token|secret|password|auth/i;

/** Keys of this service, wherever in a text they stand. */
const ownKey = /ton_[A-Za-z0-9_-]{4,}/g;

/** Characters of a URL that a log line shows. */
const SHOWN_MAX = 512;

/** Characters of a URL that are searched for secrets. The rest is longer than the shown part, even after secrets are cut out. */
const searchedMax = 2 * SHOWN_MAX;

/** A request's URL for logs and traces: every secret replaced however it is escaped, cut to a bounded length. */
export function redactUrl(whole: string): string {
  const url = whole.slice(0, searchedMax);
  const mark = url.indexOf('?');
  const path = decodePath(mark === -1 ? url : url.slice(0, mark));
  const shown = mark === -1 ? path : `${path}?${redactQuery(url.slice(mark + 1))}`;
  return redactText(shown.replace(ownKey, 'redacted')).slice(0, SHOWN_MAX);
}

/** A key may be percent-encoded. A path that does not decode is shown as it is. */
function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function redactQuery(query: string): string {
  const shown = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(query)) {
    shown.append(name, secretName.test(name) ? 'redacted' : value);
  }
  return shown.toString();
}
