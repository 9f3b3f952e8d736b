import { useEffect, useMemo, useRef } from 'preact/hooks';

import { useLabels } from '../context.ts';
import { outcomeOfTransaction } from '../exit-codes.ts';
import { formatTon, safeText, shorten } from '../format.ts';
import { html } from '../html.ts';
import type { AddressBook } from '../objects.ts';
import { opcodeText } from '../opcodes.ts';
import { words } from '../texts.ts';
import { box, layoutOf, partsWithin, type PlacedNode } from './layout.ts';
import type { TraceTree } from './tree.ts';
import { useView } from './use-view.ts';
import { frameOf, moved, showing, zoomed } from './view.ts';

/** Factor of one step of zoom, and pixels of one step of the keyboard. */
const ZOOM_STEP = 1.25;
const PAN_STEP = 60;

/** Characters of a line in a box. */
const LINE_MAX = 25;

/**
 * The tree of a trace as a picture. Tab reaches the selected node; arrows go along the tree; Shift and arrows move the picture; +, - and 0
 * change its size. Only the part in view is drawn.
 */
export function TracePicture({
  tree,
  selected,
  onSelect,
}: {
  readonly tree: TraceTree;
  readonly selected: TraceTree;
  readonly onSelect: (node: TraceTree) => void;
}) {
  const layout = useMemo(() => layoutOf(tree), [tree]);
  const place = useRef<HTMLDivElement>(null);
  const { view, size, change, fit, pointer } = useView(layout, place);
  const wantsFocus = useRef(false);

  useEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    place.current?.querySelector<SVGElement>('[aria-selected="true"]')?.focus({ preventScroll: true });
  }, [selected]);

  useEffect(() => {
    const node = layout.nodes.find(({ node: { id } }) => id === selected.id);
    if (node?.parent === undefined) return;
    change((last) => showing(last, size, { x: node.x, y: node.y, width: box.width, height: box.height }));
  }, [selected.id, size]);

  const select = (node: PlacedNode | undefined): void => {
    if (node === undefined) return;
    wantsFocus.current = true;
    // The view moves with the selection: only a box in view is drawn, and only a drawn box takes the focus.
    change((last) => showing(last, size, { x: node.x, y: node.y, width: box.width, height: box.height }));
    onSelect(node.node);
  };
  const zoom = (factor: number): void =>
    change((last) => zoomed(last, factor, { x: size.width / 2, y: size.height / 2 }));
  const onKeyDown = (event: KeyboardEvent): void => {
    const [across = 0, down = 0] = steps[event.key] ?? [];
    if (event.key === '+' || event.key === '=') zoom(ZOOM_STEP);
    else if (event.key === '-') zoom(1 / ZOOM_STEP);
    else if (event.key === '0') fit();
    else if (across === 0 && down === 0) return;
    else if (event.shiftKey) change((last) => moved(last, across * PAN_STEP, down * PAN_STEP));
    else select(neighbour(layout.nodes, selected, across, down));
    event.preventDefault();
  };
  const frame = frameOf(view, size);
  const { boxes, lines } = partsWithin(layout, frame);
  return html`<div class="picture">
    <div class="place" ref=${place}>
      <svg
        role="tree"
        aria-label=${words.trace.picture}
        viewBox="${frame.x} ${frame.y} ${frame.width} ${frame.height}"
        width=${size.width}
        height=${size.height}
        onKeyDown=${onKeyDown}
        onWheel=${pointer.onWheel}
        onPointerDown=${pointer.onPointerDown}
        onPointerMove=${pointer.onPointerMove}
        onPointerUp=${pointer.onPointerUp}
      >
        <g aria-hidden="true">
          <g class="line"><path d=${lines.map(curveTo).join(' ')} /></g>
          ${boxes.map((placed) => html`<${Line} key=${placed.node.id} placed=${placed} />`)}
        </g>
        ${boxes.map(
          (placed) =>
            html`<${Box}
              key=${placed.node.id}
              placed=${placed}
              isSelected=${placed.node.id === selected.id}
              start=${tree.transaction?.now}
              onSelect=${() => select(placed)}
            />`,
        )}
      </svg>
    </div>
    <${Tools} zoom=${zoom} fit=${fit} />
  </div>`;
}

function Tools({ zoom, fit }: { readonly zoom: (factor: number) => void; readonly fit: () => void }) {
  return html`<div class="tools">
    <button type="button" aria-label=${words.trace.larger} onClick=${() => zoom(ZOOM_STEP)}>+</button>
    <button type="button" aria-label=${words.trace.smaller} onClick=${() => zoom(1 / ZOOM_STEP)}>−</button>
    <button type="button" onClick=${fit}>${words.trace.fit}</button>
    <span class="faint">${words.trace.keys}</span>
  </div>`;
}

/** Steps of the arrow keys: columns and rows. */
const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Left: the parent; right: the first child; up and down: the nearest node of the same column. */
function neighbour(
  nodes: readonly PlacedNode[],
  selected: TraceTree,
  across: number,
  down: number,
): PlacedNode | undefined {
  const here = nodes.find(({ node }) => node.id === selected.id);
  if (here === undefined) return nodes[0];
  if (across < 0) return here.parent;
  if (across > 0) return nodes.find(({ parent }) => parent === here);
  const beside = nodes.filter(({ x, y }) => x === here.x && (y - here.y) * down > 0);
  return beside.toSorted((one, other) => Math.abs(one.y - here.y) - Math.abs(other.y - here.y))[0];
}

/** The line of a message, with the TON that it carries. */
function Line({ placed }: { readonly placed: PlacedNode }) {
  const { node, x, y } = placed;
  const value = node.message?.value ?? null;
  if (placed.parent === undefined) return null;
  return html`<g class="line ${node.state}">
    <path d=${curveTo(placed)} />
    ${
      value === null
        ? null
        : html`<text x=${x - 6} y=${y + box.height / 2 - 5} text-anchor="end">${valueText(value)}</text>`
    }
  </g>`;
}

/** The curve from the parent to a node, as the data of a path. Empty for the root. */
function curveTo({ x, y, parent }: PlacedNode): string {
  if (parent === undefined) return '';
  const from = `${parent.x + box.width},${parent.y + box.height / 2}`;
  const middle = (parent.x + box.width + x) / 2;
  const to = `${x},${y + box.height / 2}`;
  return `M${from} C${middle},${parent.y + box.height / 2} ${middle},${y + box.height / 2} ${to}`;
}

/** Digits of an amount that fit the space between two boxes. A longer amount is in the box's title in full. */
const VALUE_MAX = 14;

function valueText(nanotons: string): string {
  const text = formatTon(nanotons);
  return text.length > VALUE_MAX ? `≈ ${text.slice(0, VALUE_MAX - 2)}…` : text;
}

function Box({
  placed,
  isSelected,
  start,
  onSelect,
}: {
  readonly placed: PlacedNode;
  readonly isSelected: boolean;
  readonly start: number | undefined;
  readonly onSelect: () => void;
}) {
  const { book } = useLabels();
  const { node, x, y, parent } = placed;
  const name = nameOf(node.account, book);
  const opcode = messageText(node);
  const result = resultOf(node);
  const after = afterOf(node, start);
  const value = node.message?.value ?? null;
  const small = [after, result].filter((part) => part !== '').join(' · ');
  const spoken =
    value === null
      ? words.trace.states[node.state]
      : `${words.trace.states[node.state]}, ${words.trace.ton(formatTon(value))}`;
  // The label begins with the visible text, so that a person can say what is seen.
  const lines = [`${marks[node.state]}${name}`, opcode, small].map(lineOf);
  const label = `${lines.join(' ')}, ${spoken}`;
  return html`<g
    class="node ${node.state} ${node.isPending ? 'pending' : ''}"
    role="treeitem"
    aria-selected=${isSelected ? 'true' : 'false'}
    aria-level=${levelOf(placed)}
    aria-label=${label}
    tabindex=${isSelected || parent === undefined ? 0 : -1}
    transform="translate(${x} ${y})"
    onClick=${onSelect}
  >
    <rect width=${box.width} height=${box.height} rx="5" />
    <text x="10" y="19" class="name">${lines[0]}${' '}</text>
    <text x="10" y="36">${lines[1]}${' '}</text>
    <text x="10" y="52" class="small">${lines[2]}</text>
  </g>`;
}

/** Signs before the name: the state is never in the colour alone. */
const marks = { done: '', failed: '✕ ', bounced: '↩ ', waiting: '… ' } as const;

function levelOf({ parent }: PlacedNode): number {
  let level = 1;
  for (let above = parent; above !== undefined; above = above.parent) level++;
  return level;
}

function nameOf(account: string | null, book: AddressBook): string {
  if (account === null) return words.trace.outside;
  const { domain = null, user_friendly: friendly = null } = book[account] ?? {};
  return domain === null ? shorten(friendly ?? account, 8, 6) : safeText(domain, LINE_MAX);
}

/** The first bits of a message from outside are a signature in most wallets, and no opcode. */
function messageText({ message, transaction }: TraceTree): string {
  if (message === undefined) return transaction?.description.type ?? '';
  if (message.source === null) return words.trace.external;
  return safeText(opcodeText(message.opcode, message.decoded_opcode), 40);
}

function resultOf({ transaction }: TraceTree): string {
  if (transaction === undefined) return words.trace.onItsWay;
  const { isFailed, text } = outcomeOfTransaction(transaction.description);
  return isFailed ? text : words.trace.exit(transaction.description.compute_ph?.exit_code ?? 0);
}

/** Time since the first transaction of the trace. */
function afterOf({ transaction }: TraceTree, start: number | undefined): string {
  if (transaction === undefined || start === undefined) return '';
  return words.trace.after(Math.max(0, transaction.now - start));
}

function lineOf(text: string): string {
  return text.length > LINE_MAX ? `${text.slice(0, LINE_MAX - 1)}…` : text;
}
