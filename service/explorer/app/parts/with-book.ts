import type { ComponentChildren } from 'preact';

import { addressesIn } from '../addresses-in.ts';
import { LabelsProvider, useApplication, useLabels } from '../context.ts';
import { html } from '../html.ts';
import type { AddressBook } from '../objects.ts';
import { useLoad } from '../use-load.ts';

/**
 * Adds the names of accounts inside of a value to those that are known, such as accounts in decoded bodies. The parts inside show raw
 * addresses until the names come.
 */
export function WithBook({ value, children }: { readonly value: unknown; readonly children: ComponentChildren }) {
  const { api } = useApplication();
  const { book, metadata } = useLabels();
  const addresses = addressesIn(value, book);
  const { value: more } = useLoad<AddressBook>(`book ${addresses.join(' ')}`, async (signal) =>
    addresses.length === 0 ? {} : api.v3<AddressBook>('addressBook', { address: addresses }, signal),
  );
  return html`<${LabelsProvider} value=${{ book: { ...book, ...more }, metadata }}>${children}<//>`;
}
