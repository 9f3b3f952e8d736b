import { jettonMatchers } from './families/jettons.ts';
import type { Matcher } from './matcher.ts';

const families: readonly Readonly<Record<number, Matcher>>[] = [jettonMatchers];

/** All matchers in the order in which they look at a trace (indexing sheet 9.4); each belongs to one family. */
export const matchers: readonly Matcher[] = families
  .flatMap((family) => Object.entries(family).map(([place, matcher]) => ({ place: Number(place), matcher })))
  .toSorted((one, other) => one.place - other.place)
  .map(({ matcher }) => matcher);
