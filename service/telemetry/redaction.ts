import { censor, credentialFields, maySecretsBeIn, redactText } from './secrets.ts';

/** Matches fields of a JSON line with a credential and its value: text, number, or Node's list of repeated headers. */
const CREDENTIAL_FIELD = new RegExp(
  String.raw`("(?:${credentialFields})"):(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|-?\d[\d.e+-]*)`,
  'gi',
);

/** Matches a text of a JSON line. */
const JSON_TEXT = /"((?:[^"\\]|\\.)*)"/g;

/** Removes secrets from a log line (JSON text). A secret is recognised by its position or its form. The result is still JSON. */
export function redact(line: string): string {
  if (!maySecretsBeIn(line)) return line;
  return line
    .replace(CREDENTIAL_FIELD, `$1:"${censor}"`)
    .replace(JSON_TEXT, (_whole, text: string) => `"${redactText(text)}"`);
}
