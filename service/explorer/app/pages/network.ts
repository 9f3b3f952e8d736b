import { useEffect } from 'preact/hooks';

import { useApplication } from '../context.ts';
import { formatCount, safeText } from '../format.ts';
import { html } from '../html.ts';
import { callDev, ownJson } from '../network/dev-client.ts';
import { methodsByPart, methodsOf, type DevDocument, type DevMethod, type Part } from '../network/dev-methods.ts';
import { MethodForm } from '../network/method-form.ts';
import { Address } from '../parts/address.ts';
import { Ton } from '../parts/amount.ts';
import { Facts } from '../parts/facts.ts';
import { Loaded } from '../parts/loaded.ts';
import { Time } from '../parts/time.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

/** The state of the network changes with each block. */
const POLL_MS = 2000;

type State = {
  readonly status: {
    readonly seqno: number;
    readonly utime: number;
    readonly aheadSeconds: number;
    readonly waitingMessages: number;
  };
  readonly snapshots: readonly { readonly snapshot: number; readonly name?: string; readonly seqno?: number }[];
  readonly accounts: readonly {
    readonly name: string;
    readonly version: string;
    readonly address: string;
    readonly nanotons: string;
  }[];
};

/** Things that a developer can do with a private network. Only its internal listener runs them. */
export function NetworkPage() {
  const { settings } = useApplication();
  const text = words.network;
  if (settings.dev !== undefined)
    return html`<h1>${text.title}</h1>
      <${DevPage} />`;
  return html`<h1>${text.title}</h1>
    <p>
      ${settings.networkPage === undefined ? text.none : html`<a href=${settings.networkPage}>${text.elsewhere}</a>`}
    </p>`;
}

function DevPage() {
  const document = useLoad<DevDocument>('document', (signal) => ownJson('/openapi.json', { signal }));
  const state = useLoad<State>('state', async (signal) => {
    const [status, listed, accounts] = await Promise.all([
      callDev<State['status']>('dev_status', {}, signal),
      callDev<Pick<State, 'snapshots'>>('dev_snapshots', {}, signal),
      ownJson<State['accounts']>('/accounts.json', { signal }),
    ]);
    return { status, snapshots: listed.snapshots, accounts };
  });
  const { reload, error } = state;
  useEffect(() => {
    // A failed load tries again by itself.
    if (error !== undefined) return undefined;
    const timer = setInterval(reload, POLL_MS);
    return () => clearInterval(timer);
  }, [reload, error]);
  return html`<${Loaded} load=${state} draw=${(value: State) => html`<${StateOf} state=${value} />`} />
    <${Loaded}
      load=${document}
      draw=${(value: DevDocument) =>
        [...methodsByPart(methodsOf(value))].map(
          ([part, methods]) => html`<${PartOf} key=${part} part=${part} methods=${methods} onDone=${reload} />`,
        )}
    />`;
}

function PartOf({
  part,
  methods,
  onDone,
}: {
  readonly part: Part;
  readonly methods: readonly DevMethod[];
  readonly onDone: () => void;
}) {
  return html`<section>
    <h2>${words.network.parts[part]}</h2>
    <div class="methods">
      ${methods.map((method) => html`<${MethodForm} key=${method.name} method=${method} onDone=${onDone} />`)}
    </div>
  </section>`;
}

function StateOf({ state: { status, snapshots, accounts } }: { readonly state: State }) {
  const text = words.network;
  return html`<${Facts}
      rows=${[
        [text.head, formatCount(status.seqno)],
        [text.clock, html`<${Time} at=${status.utime} />`],
        [text.ahead, text.seconds(status.aheadSeconds)],
        [text.waiting, formatCount(status.waitingMessages)],
        [text.snapshots, snapshots.length === 0 ? words.parts.none : snapshots.map(snapshotText).join(', ')],
      ]}
    />
    <details>
      <summary>${text.accounts(accounts.length)}</summary>
      <div class="scroll">
        <table class="rows" aria-label=${text.accounts(accounts.length)}>
          <tbody>
            ${accounts.map(
              ({ name, version, address, nanotons }) =>
                html`<tr key=${address}>
                  <th scope="row">${safeText(name, 60)} ${version}</th>
                  <td><${Address} address=${address} /></td>
                  <td class="number"><${Ton} value=${nanotons} /></td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>`;
}

function snapshotText({ snapshot, name }: State['snapshots'][number]): string {
  return name === undefined ? `${snapshot}` : `${snapshot} (${safeText(name, 64)})`;
}
