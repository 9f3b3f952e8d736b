import { createHash } from 'node:crypto';

import { drawCurve, figure, maximum } from './curve-view.ts';
import { hour, type Curve } from './history.ts';
import type { createStatus } from './status.ts';

/** Content of `/status`. */
export type Status = ReturnType<ReturnType<typeof createStatus>>;

type LiteServerStatus = Status['liteServers'][number];

/** Seconds after which the page asks for itself again. */
const REFRESH_SECONDS = 5;

/** Colours and head of the explorer. The style is part of the page: a process without the explorer has no style sheet. */
const style = `
:root { color-scheme: light dark; --ground: #fff; --raised: #f5f6f8; --line: #d5d9df; --text: #16191d; --faint: #5a6370; --link: #0b57b0; --good: #14672d; --bad: #b0202a; font: 14px/1.45 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --raised: #1c2026; --line: #363d47; --text: #e6e9ee; --faint: #a0a9b6; --link: #7fb4f5; --good: #6fcf88; --bad: #ff8f8f; } }
body { margin: 0; background: var(--ground); color: var(--text); overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: 0.3rem 1rem; padding: 0.6rem 1rem; border-bottom: 1px solid var(--line); background: var(--raised); }
main { padding: 0.4rem 1rem 2rem; }
h1 { font-size: 1.35rem; margin: 0.4rem 0 0.8rem; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5rem 0 1.2rem; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; }
th, td { text-align: left; padding: 0.2rem 0.9rem 0.2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--faint); font-weight: 500; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); }
svg { display: block; } .curve { fill: none; stroke: var(--link); stroke-width: 1.2; } .axis { stroke: var(--line); }
`;

/** Allows the page its own style and nothing else: no script, no asset, no frame. */
export const statusPagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Additions of a process to its status page. */
export type StatusPageParts = {
  /** Figures of the last hour. */
  readonly curves?: readonly Curve[];
  /** Links of the head, by title. */
  readonly links?: Readonly<Record<string, string>>;
};

/** Renders the status as a page for people, which refreshes itself. Every external text is escaped. */
export function renderStatus(status: Status, nowMs: number, { curves = [], links = {} }: StatusPageParts = {}): string {
  const { name, network, version, trust, ready, reasons, head, liteServers, uptimeSeconds, http, index, metadata } =
    status;
  const facts: [string, string][] = [
    ['state', ready ? 'ready' : `not ready: ${reasons.join('; ')}`],
    ['network', network],
    ['trust', trust],
    ['head', head === undefined ? 'none yet' : `${head.seqno}, ${head.lagSeconds} s old`],
    ['version', version],
    ['up for', `${uptimeSeconds} s`],
    ...(http === undefined ? [] : [['requests in flight', `${http.inFlight}`] as [string, string]]),
    ...(index === undefined ? [] : [['index', index.text] as [string, string]]),
    ...(metadata === undefined ? [] : [['metadata', metadata.text] as [string, string]]),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(name)}: ${ready ? 'ready' : 'not ready'}</title>
<meta http-equiv="refresh" content="${REFRESH_SECONDS}"><meta name="viewport" content="width=device-width">
<style>${style}</style></head><body>
<header>${Object.entries(links)
    .map(([title, href]) => `<a href="${escape(href)}">${escape(title)}</a>`)
    .join('')}<span>${escape(network)}</span></header>
<main>
<h1>${escape(name)} <span class="${ready ? 'good' : 'bad'}">${ready ? 'ready' : 'not ready'}</span></h1>
<table>${facts.map(([what, value]) => `<tr><th>${escape(what)}</th><td>${escape(value)}</td></tr>`).join('')}</table>
${curves.length === 0 ? '' : table('The last hour', ['part', 'figure', 'curve', 'now', 'most'], curves.map(curveRow))}
${table('Lite servers', serverColumns, liteServers.map(serverRow))}
${table(
  'Recent errors',
  ['lite server', 'ago', 'class', 'times', 'text'],
  liteServers.flatMap((one) => errorRows(one, nowMs)),
)}
${table('All fields', ['field', 'value'], fieldRows(status))}
</main></body></html>
`;
}

/** Rows of the table of all fields: a hundred lite servers have some three thousand. */
const FIELD_ROWS_MAX = 5000;

/** Every field of the status in JSON, by its path. */
function fieldRows(status: Status): Cell[][] {
  const rows: Cell[][] = [];
  const add = (path: string, value: unknown): void => {
    if (rows.length >= FIELD_ROWS_MAX || value === undefined || typeof value === 'function') return;
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      const isList = Array.isArray(value);
      for (const [name, item] of Object.entries(value)) add(isList ? `${path}[${name}]` : `${path}.${name}`, item);
    } else {
      rows.push([path.slice(1), typeof value === 'string' ? value : JSON.stringify(value)]);
    }
  };
  add('', status);
  return rows;
}

const serverColumns = [
  'number',
  'name',
  'phase',
  'newest block',
  'lag',
  'p70 light, state, heavy',
  'oldest masterchain block, state',
  'in flight',
  'misbehaved',
];

function curveRow(curve: Curve): Cell[] {
  const { group, name, unit, values } = curve;
  return [
    group,
    name,
    { svg: drawCurve(curve, hour.samplesMax) },
    { number: figure(values.at(-1), unit) },
    { number: figure(maximum(values), unit) },
  ];
}

/** `svg` has no text from outside. */
type Cell =
  | string
  | { readonly svg: string }
  | { readonly number: string }
  | { readonly mark: 'good' | 'bad'; readonly text: string };

const seqno = (value: number | undefined): string => value?.toString() ?? '–';

const ms = (value: number | undefined): string => (value === undefined ? '–' : `${value.toFixed(0)} ms`);

function serverRow(server: LiteServerStatus): Cell[] {
  const { phase, cause, cordoned, lagBlocks, lagSeconds, p70Ms, depth, misbehaviours, lastMisbehaviour } = server;
  const isGood = phase === 'in' && server.connected;
  const state = [phase, cause, server.connected ? undefined : 'not connected', cordoned ? 'cordoned' : undefined];
  return [
    { number: `${server.index}` },
    server.name,
    { mark: isGood ? 'good' : 'bad', text: state.filter((part) => part !== undefined).join(', ') },
    { number: seqno(server.tipSeqno) },
    `${lagBlocks} blocks, ${lagSeconds.toFixed(1)} s`,
    [p70Ms['light'], p70Ms['state'], p70Ms['heavy']].map(ms).join(', '),
    [depth.masterchainBlock, depth.masterchainState].map((edge) => seqno(edge?.masterchain)).join(', '),
    { number: `${server.inFlight} of ${Math.floor(server.inFlightLimit)}` },
    misbehaviours === 0 ? '0' : { mark: 'bad', text: `${misbehaviours}: ${lastMisbehaviour ?? ''}` },
  ];
}

function errorRows({ name, recentErrors }: LiteServerStatus, nowMs: number): Cell[][] {
  return recentErrors.map(({ atMs, outcome, text, count }) => [
    name,
    { number: `${Math.max(0, (nowMs - atMs) / 1000).toFixed(0)} s` },
    outcome,
    { number: `${count}` },
    text,
  ]);
}

function table(caption: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const head = columns.map((column) => `<th>${escape(column)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n');
  const none = rows.length === 0 ? `<tr><td colspan="${columns.length}">none</td></tr>` : '';
  return `<div class="scroll"><table><caption>${escape(caption)}</caption><tr>${head}</tr>\n${body}${none}</table></div>`;
}

function cell(value: Cell): string {
  if (typeof value === 'string') return `<td>${escape(value)}</td>`;
  if ('svg' in value) return `<td>${value.svg}</td>`;
  if ('number' in value) return `<td class="number">${escape(value.number)}</td>`;
  return `<td class="${value.mark}">${escape(value.text)}</td>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
