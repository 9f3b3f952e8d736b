/** A value of a row. Undefined: unknown, or not there. */
export type Cell = string | number | boolean | undefined;

/** Rows for a person or a program. Columns give the order; keys of a row are the names in JSON. */
export type Listing = { readonly columns: readonly Column[]; readonly rows: readonly Row[] };

export type Row = Readonly<Record<string, Cell>>;

/** `show` gives the text of a cell in a table. Without `show` it is the value itself. */
export type Column = { readonly key: string; readonly title: string; readonly show?: (cell: Cell) => string };

/** Text of an unknown cell. */
const UNKNOWN = '-';

/** Blanks between two columns, as kubectl has them. */
const GAP = '   ';

/** Returns the listing as aligned columns under their titles. */
export function tableText({ columns, rows }: Listing): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => columns.map((column) => shown(column, row)))];
  const widths = columns.map((_, index) => Math.max(...lines.map((cells) => (cells[index] ?? '').length)));
  return lines
    .map(
      (cells) =>
        `${cells
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join('');
}

/** Returns the rows as a JSON array. An unknown cell is null, so every row has every key. */
export function jsonText({ columns, rows }: Listing): string {
  const objects = rows.map((row) => Object.fromEntries(columns.map(({ key }) => [key, row[key] ?? null])));
  return `${JSON.stringify(objects, null, 2)}\n`;
}

/** Seconds as kubectl shows an age: `45s`, `12m`, `5h`, `3d`. */
export function ageText(cell: Cell): string {
  if (typeof cell !== 'number') return UNKNOWN;
  const seconds = Math.max(0, Math.floor(cell));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Age in seconds of a time in RFC 3339; undefined for a missing or unreadable time. */
export function ageSeconds(time: string | undefined, nowMs: number): number | undefined {
  const atMs = Date.parse(time ?? '');
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.floor((nowMs - atMs) / 1000));
}

/** Control characters of outside texts must not reach a terminal. */
function shown({ key, show }: Column, row: Row): string {
  const cell = row[key];
  const text = show === undefined ? String(cell ?? UNKNOWN) : show(cell);
  // oxlint-disable-next-line no-control-regex
  return (text === '' ? UNKNOWN : text).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
