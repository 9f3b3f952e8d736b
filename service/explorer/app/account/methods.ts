import { useState } from 'preact/hooks';

import { ApiError } from '../api.ts';
import { useApplication } from '../context.ts';
import { formatCount, safeText } from '../format.ts';
import { exitCodeMeaning } from '../exit-codes.ts';
import { html } from '../html.ts';
import { Facts } from '../parts/facts.ts';
import { Loaded } from '../parts/loaded.ts';
import { WithBook } from '../parts/with-book.ts';
import { useLoad } from '../use-load.ts';
import { words } from '../texts.ts';
import { getMethods } from './method-names.ts';
import { argumentTypes, entryOf, valueOf, type Argument, type ArgumentType, type StackEntry } from './stack.ts';
import { StackValues } from './stack-values.ts';

/** Arguments of one call. */
const ARGUMENTS_MAX = 16;

type Call = { readonly method: string | number; readonly stack: readonly StackEntry[]; readonly turn: number };
type Run = { readonly gas_used: number; readonly exit_code: number; readonly stack: readonly StackEntry[] };

/** Get-methods of an account with a form to run them. @param ids of the code's dictionary; null for unreadable code */
export function MethodsTab({ raw, ids }: { readonly raw: string; readonly ids: readonly number[] | null }) {
  const known = getMethods(ids ?? []);
  const [method, setMethod] = useState('');
  const [call, setCall] = useState<Call | undefined>(undefined);
  const names = words.account.method;
  return html`<div class="columns">
    <section>
      <h2>${names.list}</h2>
      <p class="faint">${ids === null ? names.unreadable : names.listHint}</p>
      <ul class="methods">
        ${known.map(
          ({ id, name }) =>
            html`<li key=${id}>
              <button type="button" onClick=${() => setMethod(name ?? String(id))}>
                ${name ?? names.unnamed} <span class="faint">${id}</span>
              </button>
            </li>`,
        )}
      </ul>
    </section>
    <section>
      <h2>${names.run}</h2>
      <${MethodForm}
        method=${method}
        onMethod=${setMethod}
        onRun=${(stack: readonly StackEntry[]) =>
          setCall({ method: /^-?\d+$/.test(method) ? Number(method) : method, stack, turn: (call?.turn ?? 0) + 1 })}
      />
      ${call === undefined ? null : html`<${Result} raw=${raw} call=${call} />`}
    </section>
  </div>`;
}

function MethodForm({
  method,
  onMethod,
  onRun,
}: {
  readonly method: string;
  readonly onMethod: (method: string) => void;
  readonly onRun: (stack: readonly StackEntry[]) => void;
}) {
  const [list, setList] = useState<readonly Argument[]>([]);
  const names = words.account.method;
  const entries = list.map(entryOf);
  const stack = entries.filter((entry) => entry !== undefined);
  const change = (at: number, part: Partial<Argument>): void =>
    setList(list.map((one, index) => (index === at ? { ...one, ...part } : one)));
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (stack.length === list.length && method.trim() !== '') onRun(stack);
  };
  return html`<form class="method" onSubmit=${submit}>
    <label>
      ${names.name}
      <input
        value=${method}
        required
        autocomplete="off"
        spellcheck="false"
        onInput=${(event: InputEvent) => onMethod((event.currentTarget as HTMLInputElement).value)}
      />
    </label>
    ${list.map(
      (argument, at) =>
        html`<${ArgumentField}
          key=${at}
          at=${at}
          argument=${argument}
          isWrong=${entries[at] === undefined && argument.text !== ''}
          onChange=${(part: Partial<Argument>) => change(at, part)}
          onRemove=${() => setList(list.filter((_one, index) => index !== at))}
        />`,
    )}
    <p class="buttons">
      <button
        type="button"
        disabled=${list.length >= ARGUMENTS_MAX}
        onClick=${() => setList([...list, { type: 'num', text: '' }])}
      >
        ${names.add}
      </button>
      <button type="submit" class="main" disabled=${stack.length < list.length}>${names.runIt}</button>
    </p>
  </form>`;
}

function ArgumentField({
  at,
  argument,
  isWrong,
  onChange,
  onRemove,
}: {
  readonly at: number;
  readonly argument: Argument;
  readonly isWrong: boolean;
  readonly onChange: (part: Partial<Argument>) => void;
  readonly onRemove: () => void;
}) {
  const names = words.account.method;
  return html`<fieldset>
    <legend>${names.argument(at + 1)}</legend>
    <label>
      ${names.type}
      <select
        value=${argument.type}
        onChange=${(event: Event) =>
          onChange({ type: (event.currentTarget as HTMLSelectElement).value as ArgumentType })}
      >
        ${argumentTypes.map((type) => html`<option key=${type} value=${type}>${names.types[type]}</option>`)}
      </select>
    </label>
    ${
      argument.type === 'null'
        ? null
        : html`<label class="wide">
            ${names.value}
            <input
              value=${argument.text}
              autocomplete="off"
              spellcheck="false"
              aria-invalid=${isWrong}
              onInput=${(event: InputEvent) => onChange({ text: (event.currentTarget as HTMLInputElement).value })}
            />
            ${isWrong ? html`<span class="bad">${names.wrong}</span>` : null}
          </label>`
    }
    <button type="button" onClick=${onRemove}>${names.remove(at + 1)}</button>
  </fieldset>`;
}

function Result({ raw, call }: { readonly raw: string; readonly call: Call }) {
  const { api } = useApplication();
  const { turn, ...body } = call;
  const names = words.account.method;
  const load = useLoad<Run>(`method ${raw} ${JSON.stringify(body)} ${turn}`, async (signal) => {
    const run = await api.post<Run>('/api/v3/runGetMethod', { address: raw, ...body }, signal);
    if (!Array.isArray(run.stack)) throw new ApiError(-1, names.unreadableResult);
    return run;
  });
  return html`<div aria-live="polite">
    <${Loaded}
      load=${load}
      draw=${({ exit_code: exitCode, gas_used: gas, stack }: Run) => {
        const { name, meaning } = exitCodeMeaning(exitCode);
        const isGood = exitCode === 0 || exitCode === 1;
        const values = stack.map((entry) => valueOf(entry));
        return html`<${Facts}
            rows=${[
              [
                words.transaction.fields.exitCode,
                html`<span class=${isGood ? 'good' : 'bad'}>${exitCode} · ${name}</span>
                  <div class="faint">${safeText(meaning)}</div>`,
              ],
              [words.transaction.fields.gasUsed, formatCount(gas)],
            ]}
          />
          <${WithBook} value=${values}><${StackValues} values=${values} /><//>`;
      }}
    />
  </div>`;
}
