import { describe, expect, it } from 'vitest';

import { v3QuerySource } from '#service/v3/request/query-source.ts';

const sourceOf = (query: string) => v3QuerySource(new URLSearchParams(query));

describe('the query of a request of v3', () => {
  it('has names of any case, with brackets behind them or not', () => {
    const source = sourceOf('account=A&account[]=B&Account=C&account%5B%5D=D&LIMIT=5');
    expect(source.getAll('account')).toEqual(['A', 'B', 'C', 'D']);
    expect(source.get('limit')).toBe('5');
  });

  it('has the last of the values of a scalar', () => {
    expect(sourceOf('limit=1&limit=2').get('limit')).toBe('2');
    expect(sourceOf('limit=1&limit=').get('limit')).toBe('');
  });

  it('does not take what is in brackets for a part of the name', () => {
    const source = sourceOf('account[0]=A&account[b]=B&[]account=C');
    expect([source.get('account'), source.getAll('account')]).toEqual([undefined, undefined]);
  });

  it('has nothing under names that were not given', () => {
    const source = sourceOf('__proto__=A');
    expect([source.get('limit'), source.getAll('constructor'), source.get('__proto__')]).toEqual([
      undefined,
      undefined,
      'A',
    ]);
  });
});
