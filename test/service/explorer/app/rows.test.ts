import { describe, expect, it } from 'vitest';

import { appendRows, prependRows, startRows, type RowsPage } from '#service/explorer/app/rows.ts';

const page = (rows: readonly string[], next?: string): RowsPage<string> => ({ rows, labels: {}, next });
const idOf = (row: string): string => row;

describe('rows of a paged list', () => {
  it('get new rows in front and older rows behind, each once', () => {
    const first = startRows(page(['c', 'b'], 'after b'));
    const newer = prependRows(first, page(['d', 'c'], 'after c'), idOf);
    const all = appendRows(newer, page(['b', 'a']), idOf);
    expect(all.rows).toEqual(['d', 'c', 'b', 'a']);
    expect([...all.newIds]).toEqual(['d']);
    expect(all.next).toBeUndefined();
  });

  it('stay as they are when nothing is new', () => {
    const first = startRows(page(['b', 'a'], 'after a'));
    expect(prependRows(first, page(['b', 'a'], 'after a'), idOf)).toBe(first);
  });

  it('start again after a gap that a page cannot fill', () => {
    const first = startRows(page(['b', 'a'], 'after a'));
    const later = prependRows(first, page(['f', 'e'], 'after e'), idOf);
    expect(later.rows).toEqual(['f', 'e']);
    expect(later.next).toBe('after e');
  });

  it('keep the rows of an empty list that gets its first row', () => {
    const later = prependRows(startRows<string>(page([])), page(['a']), idOf);
    expect(later.rows).toEqual(['a']);
  });
});
