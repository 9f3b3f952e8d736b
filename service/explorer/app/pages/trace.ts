import { useState } from 'preact/hooks';

import { ApiError, type Api } from '../api.ts';
import { LabelsProvider, labelsOf, useApplication } from '../context.ts';
import { formatCount, hashToHex, safeText } from '../format.ts';
import { html } from '../html.ts';
import { useStream, type StreamEvent } from '../live.ts';
import type { Labels, SimulatedTrace, Trace } from '../objects.ts';
import { Facts } from '../parts/facts.ts';
import { Hash } from '../parts/hash.ts';
import { Json } from '../parts/json.ts';
import { LiveState } from '../parts/live-state.ts';
import { Loaded } from '../parts/loaded.ts';
import { Time } from '../parts/time.ts';
import { paths, type Route } from '../paths.ts';
import { isWithheld, namesOfTrace, stateOfTrace } from '../trace/state.ts';
import { TraceView } from '../trace/trace-view.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

type Answer<T> = { readonly traces: readonly T[] } & Labels;

/** A found trace. `isPending`: no block has it yet. */
type Found = { readonly trace: Trace | SimulatedTrace; readonly isPending: boolean; readonly labels: Labels };

/** A trace by its id, or by the hash of a message or a transaction in it. The external message may be on its way still. */
export function TracePage({ route }: { readonly route: Extract<Route, { page: 'trace' }> }) {
  const { api } = useApplication();
  const hash = hashToHex(route.hash);
  const [invalidated, setInvalidated] = useState<string>();
  const load = useLoad<Found | undefined>(route.hash, async (signal) => {
    if (hash === undefined) throw new ApiError(422, words.trace.noHash);
    return (await indexed(api, hash, signal)) ?? (await pending(api, hash, signal));
  });
  const found = load.value;
  const followed = followedNames(found, hash);
  const wish =
    followed.length === 0
      ? undefined
      : { types: ['trace'], trace_external_hash_norms: followed, min_finality: 'pending' };
  const stream = useStream(wish, (event: StreamEvent) => {
    setInvalidated(event.type === 'trace_invalidated' ? safeText(event.reason ?? '', 200) : undefined);
    load.reload();
  });

  return html`<h1>${words.trace.title} <${Hash} hash=${route.hash} /> <${LiveState} state=${stream} /></h1>
    ${invalidated === undefined ? null : html`<p class="warn" role="alert">${words.trace.invalidated(invalidated)}</p>`}
    <${Loaded}
      load=${load}
      draw=${() => (found === undefined ? null : html`<${FoundTrace} found=${found} wanted=${route.transaction} />`)}
    />
    ${found === undefined && load.error === undefined && !load.isLoading ? html`<p>${words.trace.none}</p>` : null}`;
}

/** Hashes of the trace that the page follows: it is not at its end, or not found yet. Empty for a text that is no hash. */
function followedNames(found: Found | undefined, hash: string | undefined): readonly string[] {
  if (found === undefined) return hash === undefined ? [] : [hash];
  return stateOfTrace(found) === 'complete' ? [] : namesOfTrace(found);
}

function FoundTrace({ found, wanted }: { readonly found: Found; readonly wanted: string | undefined }) {
  const { trace, labels } = found;
  const text = words.trace;
  const state = stateOfTrace(found);
  return html`<${LabelsProvider} value=${labelsOf(labels)}>
    <${Facts}
      rows=${[
        [text.state, html`<span class=${state === 'complete' ? '' : 'warn'}>${text.progress[state]}</span>`],
        [text.begin, html`<${Time} at=${trace.start_utime} withAge />`],
        [text.end, html`<${Time} at=${trace.end_utime} />`],
        [text.count, formatCount(trace.trace_info.transactions)],
        [text.blocks, blocksOf(trace)],
        [text.id, trace.trace_id && html`<${Hash} hash=${trace.trace_id} href=${paths.trace(trace.trace_id)} />`],
        [text.external, trace.external_hash ? html`<${Hash} hash=${trace.external_hash} />` : undefined],
      ]}
    />
    ${
      isWithheld(found)
        ? html`<p>${text.tooLarge}</p>
            <${Json} value=${trace} />`
        : html`<${TraceView} trace=${trace} actions=${trace.actions ?? []} raw=${trace} isSent wanted=${wanted} />`
    }
  <//>`;
}

function blocksOf({ mc_seqno_start: start, mc_seqno_end: end }: Found['trace']): string | undefined {
  if (Number(start) === 0 || start === undefined) return undefined;
  return start === end ? formatCount(start) : `${formatCount(start)} – ${formatCount(end)}`;
}

/** The names under which the index may know the hash, the most likely first. */
const names = ['trace_id', 'msg_hash', 'tx_hash'] as const;

async function indexed(api: Api, hash: string, signal: AbortSignal): Promise<Found | undefined> {
  for (const name of names) {
    const answer = await api.v3<Answer<Trace>>('traces', { [name]: hash, include_actions: true, limit: 1 }, signal);
    const [trace] = answer.traces;
    if (trace !== undefined) return { trace, isPending: false, labels: answer };
  }
  return undefined;
}

async function pending(api: Api, hash: string, signal: AbortSignal): Promise<Found | undefined> {
  const answer = await api.v3<Answer<SimulatedTrace>>('pendingTraces', { ext_msg_hash: hash }, signal);
  const [trace] = answer.traces;
  return trace && { trace, isPending: true, labels: answer };
}
