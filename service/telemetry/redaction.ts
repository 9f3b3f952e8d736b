/** Stands in the place of a secret. */
const censor = '[redacted]';

/**
 * Places of a credential and nothing else, as JSON: headers and settings, with their value: text, number, or the list that Node makes of repeated headers.
 * `key` and `secret` are no such places: they name a resource as often. Their secrets are found by value.
 */
const CREDENTIAL_FIELD =
  /("(?:[a-z-]*api[-_]?key|secret_?key|private_?key|password|passwd|token|authorization|proxy-authorization|cookie|set-cookie)"):(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|-?\d[\d.e+-]*)/gi;

/** Forms of a secret in any text, each with its replacement. */
const SECRET_FORMS: readonly (readonly [form: RegExp, replacement: string])[] = [
  // A key of ours; its id is public.
  [/ton_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}/g, `ton_$1_${censor}`],
  // A key in a query string.
  [/([?&](?:api_?key|token)=)[^&"\\\s]+/gi, `$1${censor}`],
  // User and password in a URL, as of Redis and Postgres.
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^/@"\\\s]{1,256}@/gi, `$1${censor}@`],
  // A password in a connection string of libpq.
  [/(\bpassword ?= ?)(?:'[^'"]*'|[^\s'"&\\]+)/gi, `$1${censor}`],
  // The value of a header that authorizes.
  [/\b(Bearer|Basic) [\w.~+/-]{16,}=*/gi, `$1 ${censor}`],
  // A JSON Web Token, as of a ServiceAccount.
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, censor],
  // A private key, whole or cut off.
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^"]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|(?="))/g, censor],
];

/** A log line (JSON text) without the secrets that may have got into it, by their place or by their form; still JSON. */
export function redact(line: string): string {
  return SECRET_FORMS.reduce(
    (text, [form, replacement]) => text.replace(form, replacement),
    line.replace(CREDENTIAL_FIELD, `$1:"${censor}"`),
  );
}
