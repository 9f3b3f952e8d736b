import type { Labels } from './objects.ts';

/** Rows of a list that a page holds: beyond it, older rows are not loaded. */
export const ROWS_MAX = 1000;

/** A page of a list as it came. */
export type RowsPage<R> = {
  readonly rows: readonly R[];
  readonly labels: Labels;
  /** Cursor of the next page; undefined for the last page. */
  readonly next: string | undefined;
};

/** Rows that are shown, in the order of the list. */
export type Rows<R> = {
  readonly rows: readonly R[];
  readonly labels: readonly Labels[];
  readonly next: string | undefined;
  /** Ids of rows that came after the first page. */
  readonly newIds: ReadonlySet<string>;
};

export const startRows = <R>({ rows, labels, next }: RowsPage<R>): Rows<R> => ({
  rows,
  labels: [labels],
  next,
  newIds: new Set(),
});

/** Puts the rows of a newer first page in front. A page without a row that is shown leaves a gap, so the list starts again with it. */
export function prependRows<R>(shown: Rows<R>, page: RowsPage<R>, idOf: (row: R) => string): Rows<R> {
  const ids = new Set(shown.rows.map(idOf));
  const fresh = page.rows.filter((row) => !ids.has(idOf(row)));
  if (fresh.length === 0) return shown;
  const newIds = new Set([...shown.newIds, ...fresh.map(idOf)]);
  const isGap = fresh.length === page.rows.length && page.next !== undefined;
  if (isGap) return { rows: page.rows, labels: [page.labels], next: page.next, newIds };
  return { ...shown, rows: [...fresh, ...shown.rows], labels: [...shown.labels, page.labels], newIds };
}

/** Puts the rows of the next page behind. */
export function appendRows<R>(shown: Rows<R>, page: RowsPage<R>, idOf: (row: R) => string): Rows<R> {
  const ids = new Set(shown.rows.map(idOf));
  const rows = [...shown.rows, ...page.rows.filter((row) => !ids.has(idOf(row)))];
  return { ...shown, rows, labels: [...shown.labels, page.labels], next: page.next };
}
