import { formatCount, safeText } from '../format.ts';
import { html } from '../html.ts';
import type { Message } from '../objects.ts';
import { opcodeText } from '../opcodes.ts';
import { Address } from '../parts/address.ts';
import { Ton } from '../parts/amount.ts';
import { Decoded } from '../parts/decoded.ts';
import { Facts } from '../parts/facts.ts';
import { Hash } from '../parts/hash.ts';
import { Time } from '../parts/time.ts';
import { words } from '../texts.ts';

/** Characters of a bag of cells that a page shows. */
const BODY_MAX = 100_000;

/** A message with its decoded body. */
export function MessageView({ message, title }: { readonly message: Message; readonly title: string }) {
  const names = words.message;
  const { message_content: content, init_state: init, value_extra_currencies: currencies } = message;
  return html`<article class="message">
    <h3>${title}: ${safeText(opcodeText(message.opcode, message.decoded_opcode), 100)}</h3>
    <${Facts}
      rows=${[
        [names.from, endOf(message.source)],
        [names.to, endOf(message.destination)],
        [names.value, message.value === null ? undefined : html`<${Ton} value=${message.value} />`],
        [names.currencies, currenciesText(currencies)],
        [names.forwardFee, message.fwd_fee === null ? undefined : html`<${Ton} value=${message.fwd_fee} />`],
        [names.bounce, bounceText(message)],
        [names.opcode, message.opcode === null ? undefined : html`<span class="mono">${message.opcode}</span>`],
        [names.created, message.created_at === null ? undefined : html`<${Time} at=${Number(message.created_at)} />`],
        [names.lt, message.created_lt === null ? undefined : html`<span class="number">${message.created_lt}</span>`],
        [names.hash, html`<${Hash} hash=${message.hash} />`],
      ]}
    />
    ${content === null ? null : html`<${Body} content=${content} title=${names.body} />`}
    ${init === null ? null : html`<${Body} content=${init} title=${names.init} />`}
  </article>`;
}

function Body({
  content,
  title,
}: {
  readonly content: NonNullable<Message['message_content']>;
  readonly title: string;
}) {
  return html`<div class="body">
    ${
      content.decoded === null || content.decoded === undefined
        ? null
        : html`<h4>${title}</h4>
            <${Decoded} value=${content.decoded} />`
    }
    ${
      content.body === null
        ? null
        : html`<details>
            <summary>${words.message.cells(title)}</summary>
            <pre tabindex="0">${content.body.slice(0, BODY_MAX)}</pre>
          </details>`
    }
  </div>`;
}

function endOf(address: string | null) {
  return address === null
    ? html`<span class="faint">${words.action.outside}</span>`
    : html`<${Address} address=${address} />`;
}

function bounceText({ bounce, bounced }: Message): string | undefined {
  if (bounced === true) return words.message.isBounced;
  return bounce === null ? undefined : bounce ? words.message.bounces : words.message.stays;
}

function currenciesText(currencies: Message['value_extra_currencies'] | null): string | undefined {
  const all = Object.entries(currencies ?? {});
  return all.length === 0
    ? undefined
    : all.map(([id, units]) => words.token.currency(formatCount(units), id)).join(', ');
}
