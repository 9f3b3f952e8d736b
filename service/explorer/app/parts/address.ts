import { useLabels } from '../context.ts';
import { safeText, shorten } from '../format.ts';
import { html } from '../html.ts';
import { paths } from '../paths.ts';
import { words } from '../texts.ts';
import { Copy } from './copy.ts';

/** Domains longer than this are cut. */
const DOMAIN_MAX = 40;

/**
 * A link to an account: its domain, else its short address. The full address is in the title and in the clipboard.
 * @param address raw address; null: none (the outside of the chain)
 */
export function Address({ address, isWhole = false }: { readonly address: string | null; readonly isWhole?: boolean }) {
  const { book } = useLabels();
  if (address === null || address === '') return html`<span class="faint">${words.parts.noAddress}</span>`;
  const entry = book[address.toUpperCase()] ?? book[address];
  const full = entry?.user_friendly ?? address;
  const domain = entry?.domain ?? null;
  const text = domain !== null && !isWhole ? safeText(domain, DOMAIN_MAX) : isWhole ? full : shorten(full);
  return html`<span class="address"
    ><a class="mono" href=${paths.account(full)} title=${full}>${text}</a>
    <${Copy} text=${full} thing=${full} />
  </span>`;
}
