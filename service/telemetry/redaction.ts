import { censor, credentialFields, redactText } from './secrets.ts';

/** Fields of a JSON line that hold a credential, with their value: text, number, or the list that Node makes of repeated headers. */
const CREDENTIAL_FIELD = new RegExp(
  String.raw`("(?:${credentialFields})"):(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|-?\d[\d.e+-]*)`,
  'gi',
);

/** A text of a JSON line. */
const JSON_TEXT = /"((?:[^"\\]|\\.)*)"/g;

/** A log line (JSON text) without the secrets that may have got into it, by their place or by their form; still JSON. */
export function redact(line: string): string {
  return line
    .replace(CREDENTIAL_FIELD, `$1:"${censor}"`)
    .replace(JSON_TEXT, (_whole, text: string) => `"${redactText(text)}"`);
}
