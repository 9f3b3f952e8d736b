/** First part of a text. Half a character at the cut becomes U+FFFD, because the API server refuses it. */
export function startOf(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed();
}

/** Last part of a text, by the same rule. */
export function endOf(text: string, charsMax: number): string {
  return text.slice(-charsMax).toWellFormed();
}

/** First part of a text that has at most so many bytes in UTF-8. It ends with a whole character. */
export function startOfBytes(text: string, bytesMax: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return startOf(text, read);
}

/** Characters that YAML takes in no form, or as the end of a line, though JSON has them as they are. */
const unfitForYaml = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** JSON that is the same value in YAML, as which the API server reads what is applied. */
export function yamlSafeJson(value: unknown): string {
  const text = JSON.stringify(value, (_name, field: unknown) =>
    typeof field === 'string' ? field.toWellFormed() : field,
  );
  return text.replaceAll(unfitForYaml, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
