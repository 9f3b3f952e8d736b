/** Text of a field of a form; empty for an absent field. Forms of the explorer have no files. */
export function textOf(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
}
