import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { Api } from './api.ts';
import type { AddressBook, Labels, Metadata } from './objects.ts';
import type { Settings } from './settings.ts';

/** Things that every page needs. */
export type Application = {
  readonly api: Api;
  readonly settings: Settings;
  /** Opens a path of the explorer without a load of the page. `replaces`: "back" skips the page before. */
  readonly open: (path: string, options?: { readonly replaces: boolean }) => void;
};

const ApplicationContext = createContext<Application | undefined>(undefined);

export const ApplicationProvider = ApplicationContext.Provider;

export function useApplication(): Application {
  const application = useContext(ApplicationContext);
  if (application === undefined) throw new Error('no application around this part');
  return application;
}

const LabelsContext = createContext<{ readonly book: AddressBook; readonly metadata: Metadata }>({
  book: {},
  metadata: {},
});

/** Gives names of accounts and tokens to everything inside. The value comes from `labelsOf`. */
export const LabelsProvider = LabelsContext.Provider;

export const useLabels = (): { readonly book: AddressBook; readonly metadata: Metadata } => useContext(LabelsContext);

/** Joins the address books and the metadata of some answers. */
export function labelsOf(...answers: readonly Labels[]): { readonly book: AddressBook; readonly metadata: Metadata } {
  return {
    book: Object.assign({}, ...answers.map(({ address_book }) => address_book ?? {})) as AddressBook,
    metadata: Object.assign({}, ...answers.map(({ metadata }) => metadata ?? {})) as Metadata,
  };
}
