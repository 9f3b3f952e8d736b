import type { FamilyTypes } from './action-type.ts';
import type { Matcher } from './matcher.ts';

/** Actions of one protocol or standard: their types, and the matchers that find them, by name. */
export type Family = {
  readonly types: FamilyTypes;
  readonly matchers: Readonly<Record<string, Matcher>>;
};
