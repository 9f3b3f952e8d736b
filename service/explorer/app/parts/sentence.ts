import type { Piece } from '../action-words.ts';
import { safeText } from '../format.ts';
import { html } from '../html.ts';
import { words } from '../texts.ts';
import { Address } from './address.ts';
import { Ton } from './amount.ts';
import { TokenAmount, TokenName } from './token.ts';

/** Characters of a comment in a line, and of any other value of a contract. */
const NOTE_MAX = 200;
const TEXT_MAX = 300;

/** A sentence of `wordsOfAction`. */
export function Sentence({ pieces }: { readonly pieces: readonly Piece[] }) {
  return html`<span class="sentence"
    >${pieces.map((piece, at) => html`<span key=${at}><${SentencePiece} piece=${piece} /></span>`)}</span
  >`;
}

function SentencePiece({ piece }: { readonly piece: Piece }) {
  switch (piece.kind) {
    case 'account':
      return piece.address === null
        ? html`<span class="faint">${words.action.outside}</span>`
        : html`<${Address} address=${piece.address} />`;
    case 'ton':
      return html`<${Ton} value=${piece.units} />`;
    case 'token':
      return html`<${TokenAmount} asset=${piece.asset} units=${piece.units} />`;
    case 'item':
      return html`<${TokenName} address=${piece.address} />`;
    case 'note':
      return piece.isEncrypted
        ? html`<i class="faint">${words.action.encrypted}</i>`
        : html`<bdi class="note">${safeText(piece.text, NOTE_MAX)}</bdi>`;
    default:
      return html`<span>${safeText(piece.text, TEXT_MAX)}</span>`;
  }
}
