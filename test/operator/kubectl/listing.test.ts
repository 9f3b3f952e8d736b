import { expect, it } from 'vitest';

import { ageSeconds, ageText, jsonText, tableText, type Listing } from '#operator/kubectl/listing.ts';

const listing: Listing = {
  columns: [
    { key: 'name', title: 'NAME' },
    { key: 'ready', title: 'READY' },
    { key: 'ageSeconds', title: 'AGE', show: ageText },
  ],
  rows: [
    { name: 'a-long-name', ready: true, ageSeconds: 7200 },
    { name: 'b\u001b[31m\nred', ready: undefined, ageSeconds: undefined },
  ],
};

it('a table has aligned columns, a dash for what is unknown, and no control characters of others', () => {
  expect(tableText(listing)).toBe(
    ['NAME          READY   AGE', 'a-long-name   true    2h', 'b [31m red    -       -', ''].join('\n'),
  );
});

it('JSON has every key in every row, and plain numbers', () => {
  expect(JSON.parse(jsonText(listing))).toEqual([
    { name: 'a-long-name', ready: true, ageSeconds: 7200 },
    { name: 'b\u001b[31m\nred', ready: null, ageSeconds: null },
  ]);
});

it.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [7199, '119m'],
  [172_799, '47h'],
  [172_800, '2d'],
])('an age of %i seconds is %s', (seconds, text) => {
  expect(ageText(seconds)).toBe(text);
});

it('the age of a time that is missing, unreadable or to come is unknown or zero', () => {
  const now = Date.parse('2026-11-28T10:00:00Z');
  expect(ageSeconds('2026-11-28T09:59:30Z', now)).toBe(30);
  expect(ageSeconds('2026-11-28T10:00:30Z', now)).toBe(0);
  expect([ageSeconds(undefined, now), ageSeconds('soon', now)]).toEqual([undefined, undefined]);
});
