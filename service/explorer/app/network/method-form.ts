import { useRef, useState } from 'preact/hooks';

import { textOf } from '../form-text.ts';
import { safeText } from '../format.ts';
import { html } from '../html.ts';
import { words } from '../texts.ts';
import { callDev } from './dev-client.ts';
import { parametersOf, type DevMethod, type DevParameter } from './dev-methods.ts';

/** Characters of a shown result: a dump has megabytes, and the command line writes it to a file. */
const RESULT_MAX = 20_000;

/** A form for one method. A method that cannot be undone asks first. @param onDone is called after a success */
export function MethodForm({ method, onDone }: { readonly method: DevMethod; readonly onDone: () => void }) {
  const [outcome, setOutcome] = useState<{ text: string; isBad: boolean }>();
  const [isRunning, setIsRunning] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);

  const run = async (): Promise<void> => {
    if (form.current === null) return;
    const data = new FormData(form.current);
    const fields = new Map(method.parameters.map(({ name }) => [name, textOf(data, name)]));
    setIsRunning(true);
    try {
      const result = await callDev(method.name, parametersOf(method, fields));
      setOutcome({ text: JSON.stringify(result, undefined, 2).slice(0, RESULT_MAX), isBad: false });
      onDone();
    } catch (error) {
      setOutcome({ text: error instanceof Error ? error.message : String(error), isBad: true });
    } finally {
      setIsRunning(false);
    }
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (method.cannotBeUndone) dialog.current?.showModal();
    else void run();
  };
  const confirm = (): void => {
    dialog.current?.close();
    void run();
  };
  const title = titleOf(method);
  return html`<form class="method" ref=${form} onSubmit=${submit} aria-label=${title}>
    <h3>${title}</h3>
    <p class="faint">${method.about}</p>
    ${method.parameters.map((parameter) => html`<${Field} key=${parameter.name} parameter=${parameter} />`)}
    <button type="submit" disabled=${isRunning}>${title}</button>
    ${
      outcome === undefined
        ? null
        : html`<pre class=${outcome.isBad ? 'bad' : ''} role=${outcome.isBad ? 'alert' : 'status'}>
${safeText(outcome.text, RESULT_MAX)}</pre>`
    }
    <dialog ref=${dialog} aria-label=${words.network.sure}>
      <p><strong>${title}</strong></p>
      <p>${words.network.cannotBeUndone}</p>
      <button type="button" onClick=${confirm}>${words.network.doIt}</button>${' '}
      <button type="button" autofocus onClick=${() => dialog.current?.close()}>${words.network.cancel}</button>
    </dialog>
  </form>`;
}

function Field({ parameter }: { readonly parameter: DevParameter }) {
  const { name, about, type, min, max, isRequired } = parameter;
  const input =
    type === 'boolean'
      ? html`<select name=${name}>
          <option value=""></option>
          <option>true</option>
          <option>false</option>
        </select>`
      : html`<input
          name=${name}
          type=${type === 'integer' ? 'number' : 'text'}
          min=${min}
          max=${max}
          required=${isRequired}
          autocomplete="off"
          spellcheck="false"
        />`;
  return html`<label>${name} <span class="faint">${about}</span>${input}</label>`;
}

/** `dev_setNextBlockTime` → `Set next block time`. */
export function titleOf({ name }: Pick<DevMethod, 'name'>): string {
  const text = name.replace(/^dev_/, '').replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
