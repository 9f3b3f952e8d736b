import { useEffect, useState } from 'preact/hooks';

import { html } from '../html.ts';
import { words } from '../texts.ts';

/** Modules of the white border that a reader needs. */
const BORDER = 4;

/** The package draws no other part of the explorer, so its code is loaded with the first QR code. */
async function loadEncoder() {
  return (await import('qrcode-generator')).default;
}

type Encoder = Awaited<ReturnType<typeof loadEncoder>>;

/** A QR code of a text as one path. */
export function QrCode({ text }: { readonly text: string }) {
  const [encoder, setEncoder] = useState<{ readonly encode: Encoder }>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    loadEncoder().then(
      (encode) => setEncoder({ encode }),
      () => setFailed(true),
    );
  }, []);
  if (hasFailed) return html`<p class="bad" role="alert">${words.load.away}</p>`;
  if (encoder === undefined) return html`<p class="loading" role="status">${words.load.loading}</p>`;
  const { side, path } = drawingOf(encoder.encode, text);
  return html`<svg class="qr" viewBox="0 0 ${side} ${side}" role="img" aria-label=${words.account.qrOf(text)}>
    <rect width=${side} height=${side} fill="#fff" />
    <path d=${path} fill="#000" shape-rendering="crispEdges" />
  </svg>`;
}

function drawingOf(encode: Encoder, text: string): { readonly side: number; readonly path: string } {
  const code = encode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  let path = '';
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      if (code.isDark(row, column)) path += `M${column + BORDER} ${row + BORDER}h1v1h-1z`;
    }
  }
  return { side: count + 2 * BORDER, path };
}
