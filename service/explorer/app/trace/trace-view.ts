import { useMemo, useState } from 'preact/hooks';

import { html } from '../html.ts';
import type { Action, Trace } from '../objects.ts';
import { ActionTable } from '../parts/action-row.ts';
import { Json } from '../parts/json.ts';
import { words } from '../texts.ts';
import { NodeDetails } from './details.ts';
import { TracePicture } from './picture.ts';
import { nodesOf, treeOf } from './tree.ts';
import { valueFlowOf } from './value-flow.ts';
import { ValueTable } from './value-table.ts';

/** A trace, real or simulated, as a picture. Beside it: actions in words, the flow of value, and the selected transaction. */
export function TraceView({
  trace,
  actions,
  raw,
}: {
  readonly trace: Pick<Trace, 'trace' | 'transactions'>;
  readonly actions: readonly Action[];
  /** Answer of the API, shown as JSON. */
  readonly raw: unknown;
}) {
  const tree = useMemo(() => treeOf(trace), [trace]);
  const flows = useMemo(() => valueFlowOf(Object.values(trace.transactions ?? {}), actions), [trace, actions]);
  const [selectedId, setSelectedId] = useState('');
  if (tree === undefined) return html`<p>${words.trace.empty}</p>`;
  const selected = nodesOf(tree).find(({ id }) => id === selectedId) ?? tree;
  return html`<${TracePicture}
      tree=${tree}
      selected=${selected}
      onSelect=${({ id }: { id: string }) => setSelectedId(id)}
    />
    <div class="columns">
      <div>
        <h2>${words.trace.actions}</h2>
        ${
          actions.length === 0
            ? html`<p class="faint">${words.parts.none}</p>`
            : html`<div class="scroll"><${ActionTable} actions=${actions} caption=${words.trace.actions} /></div>`
        }
        ${flows.length === 0 ? null : html`<${ValueTable} flows=${flows} />`}
      </div>
      <${NodeDetails} node=${selected} />
    </div>
    <${Json} value=${raw} />`;
}
