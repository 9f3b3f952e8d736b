import { useEffect, useMemo, useState } from 'preact/hooks';

import { hashToHex } from '../format.ts';
import { html } from '../html.ts';
import type { Action, Trace } from '../objects.ts';
import { ActionTable } from '../parts/action-row.ts';
import { Json } from '../parts/json.ts';
import { words } from '../texts.ts';
import { NodeDetails } from './details.ts';
import { TracePicture } from './picture.ts';
import { nodesOf, treeOf, type TraceTree } from './tree.ts';
import { valueFlowOf } from './value-flow.ts';
import { ValueTable } from './value-table.ts';

/** The selected transaction. Its place in the trace finds it again when a newer simulation, or a block, gives it another hash. */
type Selection = { readonly id: string; readonly place: number };

function selectionOf(tree: TraceTree, isWanted: (node: TraceTree) => boolean): Selection {
  const nodes = nodesOf(tree);
  const place = Math.max(0, nodes.findIndex(isWanted));
  return { id: nodes[place]?.id ?? '', place };
}

/** Hashes of a path are in either alphabet. */
const isSameHash = (one: string, other: string): boolean => (hashToHex(one) ?? one) === (hashToHex(other) ?? other);

/** A trace, real or simulated, as a picture. Beside it: actions in words, the flow of value, and the selected transaction. */
export function TraceView({
  trace,
  actions,
  raw,
  isSent,
  wanted,
}: {
  readonly trace: Pick<Trace, 'trace' | 'transactions'>;
  readonly actions: readonly Action[];
  /** Answer of the API, shown as JSON. */
  readonly raw: unknown;
  /** False for an emulation. */
  readonly isSent: boolean;
  /** Hash of the transaction that is selected at first; undefined: the root. */
  readonly wanted?: string | undefined;
}) {
  const tree = useMemo(() => treeOf(trace), [trace]);
  const flows = useMemo(() => valueFlowOf(Object.values(trace.transactions ?? {}), actions), [trace, actions]);
  const [selection, setSelection] = useState<Selection>({ id: '', place: 0 });
  useEffect(() => {
    if (tree !== undefined && wanted !== undefined) setSelection(selectionOf(tree, ({ id }) => isSameHash(id, wanted)));
  }, [wanted, tree === undefined]);
  if (tree === undefined) return html`<p>${words.trace.empty}</p>`;
  const nodes = nodesOf(tree);
  const selected = nodes.find(({ id }) => id === selection.id) ?? nodes[selection.place] ?? tree;
  return html`<${TracePicture}
      tree=${tree}
      selected=${selected}
      onSelect=${(node: TraceTree) => setSelection(selectionOf(tree, ({ id }) => id === node.id))}
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
      <${NodeDetails} node=${selected} isSent=${isSent} />
    </div>
    <${Json} value=${raw} />`;
}
