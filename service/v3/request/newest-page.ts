import type { Sort } from './parameters.ts';

/** Default of `limit`: most clients ask for at most so many rows. */
const ROWS_MAX = 100;

/**
 * True for the first page of a list of the newest rows: no filter, no cursor, at most 100 rows. Explorers and monitors repeat such requests.
 * @param values parsed parameters; a filter is absent as undefined, false or an empty list
 */
export function isNewestPage({
  limit,
  offset,
  sort = 'desc',
  ...filters
}: {
  readonly limit: number;
  readonly offset: number;
  readonly sort?: Sort;
  readonly [filter: string]: unknown;
}): boolean {
  return limit <= ROWS_MAX && offset === 0 && sort === 'desc' && Object.values(filters).every(isAbsent);
}

function isAbsent(filter: unknown): boolean {
  return filter === undefined || filter === false || (Array.isArray(filter) && filter.length === 0);
}
