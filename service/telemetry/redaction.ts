/** What stands in the place of a secret. */
const censor = '[redacted]';

/** JSON fields whose name says that the value is a secret, with their value: text, number, or a list as Node gives repeated headers. */
const SECRET_FIELD =
  /("(?:[a-z-]*api[-_]?key|key|secret(?:_?key)?|private_?key|password|passwd|token|authorization|proxy-authorization|cookie|set-cookie)"):(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|-?\d[\d.e+-]*)/gi;

/** A key of ours anywhere in a text; its id is public. */
const API_KEY = /ton_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}/g;

/** A key in a query string. */
const QUERY_KEY = /([?&](?:api_?key|token)=)[^&"\\\s]+/gi;

/** User and password in a URL, as of Redis and Postgres. */
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^/@"\\\s]{1,256}@/gi;

/** A log line (JSON text) without the secrets that may have got into it, by name of the field or by form of the text; still JSON. */
export function redact(line: string): string {
  return line
    .replace(SECRET_FIELD, `$1:"${censor}"`)
    .replace(API_KEY, `ton_$1_${censor}`)
    .replace(QUERY_KEY, `$1${censor}`)
    .replace(URL_PASSWORD, `$1${censor}@`);
}
