const note =
  '# Generated from crds/*.yaml by `npm run generate`. Do not edit. Helm never upgrades a crds/ folder, hence a template.';

/**
 * Renders a definition as a template of the operator's chart, with the chart's labels. `crds.enabled` includes it. With `crds.keep` it
 * outlives the release.
 */
export function chartTemplate(definition: string): string {
  const [head, name, tail] = splitAtName(definition);
  return [
    '{{- if .Values.crds.enabled }}',
    note,
    head,
    name,
    '  labels:',
    '    {{- include "tonplane.labels" . | nindent 4 }}',
    '  {{- if .Values.crds.keep }}',
    '  annotations:',
    '    helm.sh/resource-policy: keep',
    '  {{- end }}',
    tail.trimEnd(),
    '{{- end }}',
    '',
  ].join('\n');
}

/** @throws TypeError when the text has no metadata.name, or what Helm would take for a template */
function splitAtName(text: string): [head: string, name: string, tail: string] {
  const match = /^([\s\S]*?\nmetadata:)\n( {2}name: \S+)\n([\s\S]*)$/.exec(text);
  if (match === null || text.includes('{{')) throw new TypeError('not a definition that a template can hold');
  const [, head = '', name = '', tail = ''] = match;
  return [head, name, tail];
}
