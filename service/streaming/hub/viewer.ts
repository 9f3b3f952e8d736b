import { createHash } from 'node:crypto';

import type { Subscription } from '../changes.ts';

/** Wish of a connection, as far as it decides the text of an event. */
export type Viewer = {
  readonly wish: Subscription;
  /** Names its filters of actions: equal for equal filters. */
  readonly filterName: string;
  /** Names all that decides its views, apart from accounts and traces: equal for connections that see the same. */
  readonly viewName: string;
};

/** Names of the viewers of one vocabulary of actions. Most connections have the vocabulary of a version, which is one set. */
type VocabularyNames = { readonly vocabulary: string; readonly views: Map<string, string> };

const known = new WeakMap<ReadonlySet<string>, VocabularyNames>();

export function viewerOf(wish: Subscription): Viewer {
  const { actionTypes, supportedActionTypes } = wish;
  const names = known.get(supportedActionTypes) ?? {
    vocabulary: nameOf(supportedActionTypes),
    views: new Map<string, string>(),
  };
  known.set(supportedActionTypes, names);
  const form = formOf(wish);
  if (actionTypes !== null) {
    const filterName = `${names.vocabulary} ${nameOf(actionTypes)}`;
    return { wish, filterName, viewName: `${form} ${filterName}` };
  }
  const viewName = names.views.get(form) ?? `${form} ${names.vocabulary}`;
  names.views.set(form, viewName);
  return { wish, filterName: names.vocabulary, viewName };
}

/** Some hundred texts. */
function formOf({ types, finalityScope, includeAddressBook, includeMetadata }: Subscription): string {
  return `${[...types].toSorted().join()} ${finalityScope} ${includeAddressBook} ${includeMetadata}`;
}

function nameOf(types: ReadonlySet<string>): string {
  return createHash('sha1')
    .update([...types].toSorted().join())
    .digest('base64');
}
