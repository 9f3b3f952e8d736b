import { useState } from 'preact/hooks';

import { parseBoc } from '../cells.ts';
import { decodeConfig } from '../config/parameters.ts';
import type { ConfigParameter } from '../config/values.ts';
import { ConfigView } from '../config/view.ts';
import { useApplication } from '../context.ts';
import { html } from '../html.ts';
import { Loaded } from '../parts/loaded.ts';
import { WithBook } from '../parts/with-book.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

type Answer = { readonly config: { readonly bytes: string } };

/** The configuration of the network at the head, decoded. */
export function ConfigPage() {
  const { api } = useApplication();
  const load = useLoad('config', async (signal) => {
    const { config } = await api.v2<Answer>('getConfigAll', {}, signal);
    return decodeConfig(parseBoc(config.bytes));
  });
  return html`<h1>${words.config.title}</h1>
    <p class="faint">${words.config.hint}</p>
    <${Loaded}
      load=${load}
      draw=${(parameters: readonly ConfigParameter[]) =>
        html`<${WithBook} value=${parameters}>
          <nav class="contents" aria-label=${words.config.contents}>
            ${parameters.map(({ id }) => html`<a key=${id} href="#parameter-${id}">${id}</a>`)}
          </nav>
          ${parameters.map((parameter) => html`<${Parameter} key=${parameter.id} parameter=${parameter} />`)}
        <//>`}
    />`;
}

function Parameter({ parameter }: { readonly parameter: ConfigParameter }) {
  const { id, value, title = words.config.unknown } = parameter;
  return html`<section class="parameter" id="parameter-${id}">
    <h2><span class="faint number">${id}</span> ${title}</h2>
    ${value === undefined ? html`<p class="faint">${words.config.undecoded}</p>` : html`<${ConfigView} value=${value} title=${title} />`}
    <${RawCell} id=${id} />
  </section>`;
}

/** The parameter's cell, loaded when the reader opens it. */
function RawCell({ id }: { readonly id: number }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
    <summary>${words.config.cell}</summary>
    ${isOpen ? html`<${LoadedCell} id=${id} />` : null}
  </details>`;
}

function LoadedCell({ id }: { readonly id: number }) {
  const { api } = useApplication();
  const load = useLoad(`parameter ${id}`, async (signal) => {
    const { config } = await api.v2<Answer>('getConfigParam', { config_id: id }, signal);
    return config.bytes;
  });
  return html`<${Loaded} load=${load} draw=${(bytes: string) => html`<pre tabindex="0">${bytes}</pre>`} />`;
}
