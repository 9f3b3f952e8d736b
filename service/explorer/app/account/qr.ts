// The types of the package know the default export alone.
// oxlint-disable-next-line import/no-named-as-default
import qrcode from 'qrcode-generator';

import { html } from '../html.ts';
import { words } from '../texts.ts';

/** Modules of the white border that a reader needs. */
const BORDER = 4;

/** A QR code of a text as one path. */
export function QrCode({ text }: { readonly text: string }) {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const side = count + 2 * BORDER;
  let path = '';
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      if (code.isDark(row, column)) path += `M${column + BORDER} ${row + BORDER}h1v1h-1z`;
    }
  }
  return html`<svg class="qr" viewBox="0 0 ${side} ${side}" role="img" aria-label=${words.account.qrOf(text)}>
    <rect width=${side} height=${side} fill="#fff" />
    <path d=${path} fill="#000" shape-rendering="crispEdges" />
  </svg>`;
}
