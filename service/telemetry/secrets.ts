/** Replacement of a secret. */
export const censor = '[redacted]';

/** Names of JSON fields that always contain a credential. `key` and `secret` often name a resource, so their secrets are found by value. */
export const credentialFields =
  '[a-z-]*api[-_]?key|secret_?key|private_?key|password|passwd|token|authorization|proxy-authorization|cookie|set-cookie';

/** Forms of a secret in any text: a prefix, then the secret. */
const forms: readonly RegExp[] = [
  // An API key, whole or in part; its id is public.
  /(ton_[0-9a-z]{12}_)([0-9a-z]+)/gi,
  // A key in a query string, and in a header line.
  /([?&](?:api_?key|token)=)([^&"\\\s]+)/gi,
  /(\bx-api-key\s*[:=]\s*)([^"\\,;\s]+)/gi,
  // A credential in JSON inside a text.
  new RegExp(String.raw`("(?:${credentialFields})"\s*:\s*")((?:[^"\\]|\\.)+)`, 'gi'),
  // User and password in a URL, for example of Redis or Postgres.
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)([^/@"\\\s]{1,256})(?=@)/gi,
  // A password in a connection string of libpq.
  /(\bpassword ?= ?)('[^'"]*'|[^\s'"&\\]+)/gi,
  // The value of an authorization header.
  /(\b(?:Bearer|Basic) )([\w.~+/-]{16,}=*)/gi,
  // A JSON Web Token, for example of a ServiceAccount.
  /()(\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)/g,
  // A private key, whole or cut off.
  /()(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^"]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|(?="|$)))/g,
];

/**
 * Quick filter: matches a part of every form of a secret, every escape, and base64 as long as a key. Text without a match has no secret. The
 * text may be a whole line of JSON.
 */
const suspicious: readonly RegExp[] = [
  /%[0-9a-f]{2}|\\|&(?:#|amp|quot)|:\/\/|-----/i,
  // Words apart from signs: with both in one expression a search takes ten times as long.
  /ton_|key|token|passw|authorization|cookie|bearer |basic |eyJ/i,
  /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{76}/,
];

/** False if `redactText` leaves the text unchanged, and no field of it is a credential. Costs one search. */
export function maySecretsBeIn(text: string): boolean {
  return suspicious.some((part) => part.test(text));
}

/** Escapes of one character: of URLs, of JSON and of source code, of HTML. */
const escapes =
  /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|\\(["'\\/])|&(amp|quot);/gi;

/** Most levels of escapes that are removed; text with more is secret as a whole. Each level takes a pass over the text. */
const DEPTH_MAX = 8;

/** Text with some escapes removed. `starts` maps each character to its position in the source; the end of the source comes last. */
type View = { readonly text: string; readonly starts: readonly number[] };

type Range = { readonly start: number; readonly end: number };

/** Removes secrets from a text, however often and in whatever ways they are escaped. All other text stays. */
export function redactText(source: string): string {
  if (!maySecretsBeIn(source)) return source;
  const ranges: Range[] = [];
  let view: View | undefined = { text: source, starts: Array.from({ length: source.length + 1 }, (_, at) => at) };
  for (let depth = 0; view !== undefined; depth++) {
    if (depth > DEPTH_MAX) return censor;
    ranges.push(...secretsIn(view));
    view = unescape(view);
  }
  return cutOut(source, ranges);
}

/** Returns undefined when nothing is escaped. */
function unescape({ text, starts }: View): View | undefined {
  const found = [...text.matchAll(escapes)];
  if (found.length === 0) return undefined;
  let shown = '';
  const at: number[] = [];
  let copied = 0;
  for (const match of found) {
    shown += text.slice(copied, match.index);
    for (; copied < match.index; copied++) at.push(starts[copied] ?? 0);
    const character = characterOf(match);
    for (let unit = 0; unit < character.length; unit++) at.push(starts[match.index] ?? 0);
    shown += character;
    copied = match.index + match[0].length;
  }
  shown += text.slice(copied);
  for (; copied <= text.length; copied++) at.push(starts[copied] ?? 0);
  return { text: shown, starts: at };
}

/** Returns the character of a match of `escapes`. */
function characterOf(match: readonly (string | undefined)[]): string {
  const [, percent, unicode, braced, byte, htmlHex, htmlDecimal, literal, named] = match;
  const hex = percent ?? unicode ?? braced ?? byte ?? htmlHex;
  if (literal !== undefined) return literal;
  if (named !== undefined) return named.toLowerCase() === 'amp' ? '&' : '"';
  const code = hex === undefined ? Number(htmlDecimal) : Number.parseInt(hex, 16);
  return String.fromCodePoint(Math.min(code, 0x10ffff));
}

function secretsIn({ text, starts }: View): Range[] {
  const rangeOf = (from: number, to: number): Range => ({ start: starts[from] ?? 0, end: starts[to] ?? 0 });
  const found = forms.flatMap((form) =>
    [...text.matchAll(form)].map(({ index, 1: before = '', 2: secret = '' }) => {
      const from = index + before.length;
      return rangeOf(from, from + secret.length);
    }),
  );
  const encoded = [...text.matchAll(base64Run)].filter(([run]) => holdsKey(run));
  return [...found, ...encoded.map(({ index, 0: run }) => rangeOf(index, index + run.length))];
}

/** Matches base64 of either alphabet, at least as long as an API key. */
const base64Run = /[A-Za-z0-9+/_-]{76,}/g;
const keyStart = /ton_[0-9A-Za-z]{12}_[0-9A-Za-z]{8}/;

/** Reports whether decoded base64 contains an API key. The base64 may begin at any of four characters. */
function holdsKey(run: string): boolean {
  return [0, 1, 2, 3].some((from) => keyStart.test(Buffer.from(run.slice(from), 'base64').toString('latin1')));
}

/** Cuts out secrets. Secrets of several views overlap, and each character is cut out once. */
function cutOut(source: string, ranges: readonly Range[]): string {
  let shown = '';
  let end = 0;
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    if (range.start >= end) shown += source.slice(end, range.start) + censor;
    end = Math.max(end, range.end);
  }
  return shown + source.slice(end);
}
