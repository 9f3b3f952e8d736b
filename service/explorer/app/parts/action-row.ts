import type { Action } from '../objects.ts';

import { wordsOfAction } from '../action-words.ts';
import { html } from '../html.ts';
import { paths } from '../paths.ts';
import { words } from '../texts.ts';
import { Sentence } from './sentence.ts';
import { Time } from './time.ts';

/** Actions as a table, newest first as given. @param isNew says which rows came live */
export function ActionTable({
  actions,
  caption,
  isNew = () => false,
}: {
  readonly actions: readonly Action[];
  readonly caption: string;
  readonly isNew?: (action: Action) => boolean;
}) {
  return html`<table class="rows actions quiet">
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">${words.columns.time}</th>
        <th scope="col">${words.action.type}</th>
        <th scope="col">${words.columns.what}</th>
        <th scope="col">${words.columns.result}</th>
      </tr>
    </thead>
    <tbody>
      ${actions.map((action) => html`<${ActionRow} key=${action.action_id} action=${action} isNew=${isNew(action)} />`)}
    </tbody>
  </table>`;
}

/** A row of `ActionTable`. The title is a link to the trace. */
export function ActionRow({ action, isNew = false }: { readonly action: Action; readonly isNew?: boolean }) {
  const { title, sentence } = wordsOfAction(action);
  const trace = action.trace_id ?? action.trace_external_hash ?? undefined;
  return html`<tr class=${isNew ? 'new' : ''}>
    <td class="time"><${Time} at=${action.start_utime} />${isNew ? html` <small>${words.parts.new}</small>` : null}</td>
    <td>${trace === undefined ? title : html`<a href=${paths.trace(trace)}>${title}</a>`}</td>
    <td>
      ${
        sentence.length > 0
          ? html`<${Sentence} pieces=${sentence} />`
          : html`<span class="faint">${words.action.noSentence}</span>`
      }
    </td>
    <td><${Outcome} success=${action.success} finality=${action.finality} /></td>
  </tr>`;
}

/** Result of an action or a transaction in words, never by colour alone. */
export function Outcome({
  success,
  finality,
}: {
  readonly success: boolean | null;
  readonly finality?: string | undefined;
}) {
  const result = success === false ? html`<span class="bad">${words.action.failed}</span>` : words.action.done;
  return finality === undefined || finality === 'finalized'
    ? html`<span>${result}</span>`
    : html`<span>${result} <span class="warn">${words.action.finality(finality)}</span></span>`;
}
