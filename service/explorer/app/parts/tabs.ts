import { html } from '../html.ts';

export type Tab = { readonly name: string; readonly title: string; readonly href: string };

/** Links between the parts of one page. */
export function Tabs({
  tabs,
  current,
  label,
}: {
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly label: string;
}) {
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map(
      ({ name, title, href }) =>
        html`<a key=${name} href=${href} aria-current=${name === current ? 'page' : undefined}>${title}</a>`,
    )}
  </nav>`;
}
