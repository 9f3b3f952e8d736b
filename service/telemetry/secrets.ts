/** Stands in the place of a secret. */
export const censor = '[redacted]';

/** Names of JSON fields that hold a credential and nothing else. `key` and `secret` name a resource as often: their secrets are found by value. */
export const credentialFields =
  '[a-z-]*api[-_]?key|secret_?key|private_?key|password|passwd|token|authorization|proxy-authorization|cookie|set-cookie';

/** Forms of a secret in any text: what stands before the secret, then the secret. */
const forms: readonly RegExp[] = [
  // A key of ours, whole or in part; its id is public.
  /(ton_[0-9a-z]{12}_)([0-9a-z]+)/gi,
  // A key in a query string, and in a header line.
  /([?&](?:api_?key|token)=)([^&"\\\s]+)/gi,
  /(\bx-api-key\s*[:=]\s*)([^"\\,;\s]+)/gi,
  // A credential in JSON that is itself a text.
  new RegExp(String.raw`("(?:${credentialFields})"\s*:\s*")((?:[^"\\]|\\.)+)`, 'gi'),
  // User and password in a URL, as of Redis and Postgres.
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)([^/@"\\\s]{1,256})(?=@)/gi,
  // A password in a connection string of libpq.
  /(\bpassword ?= ?)('[^'"]*'|[^\s'"&\\]+)/gi,
  // The value of a header that authorizes.
  /(\b(?:Bearer|Basic) )([\w.~+/-]{16,}=*)/gi,
  // A JSON Web Token, as of a ServiceAccount.
  /()(\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)/g,
  // A private key, whole or cut off.
  /()(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^"]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|(?="|$)))/g,
];

/** Stands in every secret, in every escape, or in base64 as long as a key: a text without it is shown as it is, at the cost of one look. */
const suspicious = /[=:%\\&]|ton_|eyJ|-----|bearer |basic |[A-Za-z0-9+/_-]{76}/i;

/** Escapes of one character: of URLs, of JSON and of source code, of HTML. */
const escapes =
  /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|\\(["'\\/])|&(amp|quot);/gi;

/** Escapes within escapes that are looked through; a text with more is secret as a whole. Each takes a pass over the text. */
const depthMax = 8;

/** A text without some of its escapes, and where each of its characters begins in the source; the end of the source comes last. */
type View = { readonly text: string; readonly starts: readonly number[] };

type Range = { readonly start: number; readonly end: number };

/** A text without the secrets in it, however often and in which ways they are escaped. Everything else is left as it is. */
export function redactText(source: string): string {
  if (!suspicious.test(source)) return source;
  const ranges: Range[] = [];
  let view: View | undefined = { text: source, starts: Array.from({ length: source.length + 1 }, (_, at) => at) };
  for (let depth = 0; view !== undefined; depth++) {
    if (depth > depthMax) return censor;
    ranges.push(...secretsIn(view));
    view = unescape(view);
  }
  return cutOut(source, ranges);
}

/** Undefined when there is nothing to take off. */
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

/** The character of a match of `escapes`. */
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

/** As long as a key of ours in base64 at least, of either alphabet. */
const base64Run = /[A-Za-z0-9+/_-]{76,}/g;
const keyStart = /ton_[0-9A-Za-z]{12}_[0-9A-Za-z]{8}/;

/** Whether a key of ours is in what the base64 stands for, which may begin at any of four characters. */
function holdsKey(run: string): boolean {
  return [0, 1, 2, 3].some((from) => keyStart.test(Buffer.from(run.slice(from), 'base64').toString('latin1')));
}

/** Secrets of several views overlap: each character is cut out once. */
function cutOut(source: string, ranges: readonly Range[]): string {
  let shown = '';
  let end = 0;
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    if (range.start >= end) shown += source.slice(end, range.start) + censor;
    end = Math.max(end, range.end);
  }
  return shown + source.slice(end);
}
