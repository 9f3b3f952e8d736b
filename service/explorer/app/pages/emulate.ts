import { useState } from 'preact/hooks';

import type { ApiError } from '../api.ts';
import { LabelsProvider, labelsOf, useApplication } from '../context.ts';
import { emulationCallOf, type EmulationCall, type Misread } from '../emulate/request.ts';
import { exitCodeMeaning } from '../exit-codes.ts';
import { textOf } from '../form-text.ts';
import { safeText } from '../format.ts';
import { html } from '../html.ts';
import type { Action, Labels, Trace } from '../objects.ts';
import { Loaded } from '../parts/loaded.ts';
import { TraceView } from '../trace/trace-view.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';

/** Answer of the emulation (service/emulate/README.md). */
type Emulated = Pick<Trace, 'trace' | 'transactions'> &
  Labels & {
    readonly mc_block_seqno: number;
    readonly is_incomplete: boolean;
    readonly actions: readonly Action[] | null;
  };

/** Shows what a message would do before it is sent. */
export function EmulatePage() {
  const [call, setCall] = useState<EmulationCall>();
  const [problem, setProblem] = useState<Misread['problem']>();
  const [runs, setRuns] = useState(0);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const read = emulationCallOf(textOf(data, 'message'), textOf(data, 'from'), data.has('ignore'));
    setProblem('problem' in read ? read.problem : undefined);
    setCall('problem' in read ? undefined : read);
    setRuns((count) => count + 1);
  };
  const page = words.emulate;
  return html`<h1>${page.title}</h1>
    <p>${page.intro}</p>
    <form class="stacked" onSubmit=${submit}>
      <label>${page.message} <textarea name="message" rows="5" spellcheck="false"></textarea></label>
      <label>${page.from} <input name="from" size="50" autocomplete="off" spellcheck="false" /></label>
      <label><input name="ignore" type="checkbox" /> ${page.ignore}</label>
      <button type="submit">${page.run}</button>
    </form>
    ${problem === undefined ? null : html`<p class="bad" role="alert">${page.problems[problem]}</p>`}
    ${call === undefined ? null : html`<${Result} key=${runs} call=${call} />`}`;
}

function Result({ call }: { readonly call: EmulationCall }) {
  const { api } = useApplication();
  const load = useLoad<Emulated>('call', (signal) => api.post(`/api/emulate/v1/${call.operation}`, call.body, signal));
  return html`<${Loaded} load=${load} draw=${(value: Emulated) => html`<${EmulatedTrace} value=${value} />`} />
    ${load.error === undefined ? null : html`<${Refusal} error=${load.error} />`}`;
}

function EmulatedTrace({ value }: { readonly value: Emulated }) {
  const text = words.emulate;
  return html`<${LabelsProvider} value=${labelsOf(value)}>
    <h2>${text.block(value.mc_block_seqno)}</h2>
    ${value.is_incomplete ? html`<p class="warn">${text.incomplete}</p>` : null}
    <${TraceView} trace=${value} actions=${value.actions ?? []} raw=${value} isSent=${false} />
  <//>`;
}

/** The exit code of a refused message with its meaning, and the end of the log. */
function Refusal({ error: { fields } }: { readonly error: ApiError }) {
  const { exit_code: code, vm_log: log } = fields;
  const meaning = typeof code === 'number' ? exitCodeMeaning(code) : undefined;
  return html`${meaning === undefined ? null : html`<p>${words.emulate.refused(Number(code))} (${meaning.name}). ${meaning.meaning}</p>`}
  ${
    typeof log === 'string' && log !== ''
      ? html`<h2>${words.emulate.log}</h2>
          <pre tabindex="0">${safeText(log, 10_000)}</pre>`
      : null
  }`;
}
