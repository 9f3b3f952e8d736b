const words = new Set([
  'and',
  'or',
  'unless',
  'bool',
  'offset',
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'inf',
  'nan',
]);

/** Names of the metrics and recorded series that an expression reads. Variables of dashboards may stand in it. */
export function metricNamesOf(expression: string): string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\$\w+|\$\{\w+\}/g, '1')
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '');
  const names = [...bare.matchAll(/(?<![\w:.])[a-zA-Z_:][a-zA-Z0-9_:]*(?!\s*\(|[a-zA-Z0-9_:])/g)].map(([name]) => name);
  return [...new Set(names.filter((name) => !words.has(name.toLowerCase())))];
}

/** `x_bucket` is a series of the histogram `x`. */
export function metricOf(series: string): string {
  return series.replace(/_(bucket|sum|count)$/, '');
}
