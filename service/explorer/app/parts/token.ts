import { useLabels } from '../context.ts';
import { formatCount, formatUnits, safeText, shorten } from '../format.ts';
import { html } from '../html.ts';
import { paths } from '../paths.ts';
import { itemName, jettonLabel } from '../token-labels.ts';
import { words } from '../texts.ts';

/** Characters of a token's symbol and of an item's name in a line. */
const SYMBOL_MAX = 24;
const NAME_MAX = 60;

/**
 * An amount of a jetton, with a link to its master: the same symbol can belong to many masters.
 * @param asset raw address of the master
 * @param units smallest units
 */
export function TokenAmount({ asset, units }: { readonly asset: string; readonly units: string }) {
  const { metadata, book } = useLabels();
  const { symbol, decimals } = jettonLabel(metadata, asset);
  const full = book[asset]?.user_friendly ?? asset;
  const amount = decimals === undefined ? words.token.unitsOf(formatCount(units)) : formatUnits(units, decimals);
  const text = symbol === undefined ? shorten(full) : safeText(symbol, SYMBOL_MAX);
  return html`<span class="amount" title=${words.token.units(units)}
    >${amount} <a class="unit" href=${paths.account(full)} title=${full}><bdi>${text}</bdi></a></span
  >`;
}

/** A token or an item by its own name, else by its address. @param address raw */
export function TokenName({ address }: { readonly address: string }) {
  const { metadata, book } = useLabels();
  const full = book[address]?.user_friendly ?? address;
  const name = itemName(metadata, address) ?? book[address]?.domain ?? undefined;
  return html`<a href=${paths.account(full)} title=${full} class=${name === undefined ? 'mono' : ''}
    ><bdi>${name === undefined ? shorten(full) : safeText(name, NAME_MAX)}</bdi></a
  >`;
}
