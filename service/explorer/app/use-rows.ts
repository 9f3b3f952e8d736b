import { useEffect, useMemo, useState } from 'preact/hooks';

import { labelsOf } from './context.ts';
import { appendRows, prependRows, ROWS_MAX, startRows, type Rows, type RowsPage } from './rows.ts';
import { useLoad, type Load } from './use-load.ts';

export type PagedRows<R> = {
  /** Load of the first page. */
  readonly first: Load<RowsPage<R>>;
  /** Load of the page after the shown rows; its value is undefined before `more` was called. */
  readonly following: Load<RowsPage<R> | undefined>;
  readonly rows: readonly R[];
  readonly labels: ReturnType<typeof labelsOf>;
  readonly isNew: (row: R) => boolean;
  /** Loads older rows; undefined without older rows. */
  readonly more: (() => void) | undefined;
};

/**
 * A list by pages. `first.reload` puts new rows in front.
 * @param key names the list
 * @param load loads the page after a cursor
 */
export function useRows<R>(
  key: string,
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<RowsPage<R>>,
  idOf: (row: R) => string,
): PagedRows<R> {
  const [shown, setShown] = useState<{ readonly key: string; readonly rows: Rows<R> } | undefined>(undefined);
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  const first = useLoad(key, (signal) => load(undefined, signal));
  const following = useLoad<RowsPage<R> | undefined>(`${key} after ${cursor ?? ''}`, async (signal) =>
    cursor === undefined ? undefined : load(cursor, signal),
  );
  useEffect(() => {
    const page = first.value;
    if (page === undefined) return;
    setShown((last) => ({ key, rows: last?.key === key ? prependRows(last.rows, page, idOf) : startRows(page) }));
  }, [first.value]);
  useEffect(() => {
    const page = following.value;
    if (page === undefined) return;
    setCursor(undefined);
    setShown((last) => (last?.key === key ? { key, rows: appendRows(last.rows, page, idOf) } : last));
  }, [following.value]);

  const current = shown?.key === key ? shown.rows : undefined;
  const labels = useMemo(() => labelsOf(...(current?.labels ?? [])), [current]);
  const next = current?.next;
  const isOpen = next !== undefined && cursor === undefined && (current?.rows.length ?? 0) < ROWS_MAX;
  return {
    first,
    following,
    rows: current?.rows ?? [],
    labels,
    isNew: (row) => current?.newIds.has(idOf(row)) === true,
    more: isOpen ? () => setCursor(next) : undefined,
  };
}
