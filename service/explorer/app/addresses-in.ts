import type { AddressBook } from './objects.ts';

const rawAddress = /^-?\d{1,3}:[0-9A-F]{64}$/;

/** Values that one search visits, and addresses that it finds: one request takes them. */
const VISITS_MAX = 5000;
export const FOUND_MAX = 50;

/** Raw addresses among the texts of a value that a book lacks, each once. */
export function addressesIn(value: unknown, book: AddressBook): readonly string[] {
  const found = new Set<string>();
  const open: unknown[] = [value];
  for (let visits = 0; open.length > 0 && visits < VISITS_MAX && found.size < FOUND_MAX; visits++) {
    const one = open.pop();
    if (typeof one === 'string') {
      if (rawAddress.test(one) && !Object.hasOwn(book, one)) found.add(one);
    } else if (typeof one === 'object' && one !== null) open.push(...Object.values(one));
  }
  return [...found].toSorted();
}
