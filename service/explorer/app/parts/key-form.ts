import { textOf } from '../form-text.ts';
import { html } from '../html.ts';
import { apiKey } from '../settings.ts';
import { words } from '../texts.ts';

/** Asks for the API key of this tab. @param onChange is called after the key has changed */
export function KeyForm({ onChange }: { readonly onChange: () => void }) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    apiKey.write(textOf(data, 'key').trim());
    onChange();
  };
  return html`<form class="key" onSubmit=${submit}>
    <label>${words.key.label} <input name="key" type="password" autocomplete="off" /></label>
    <button type="submit">${words.key.use}</button>
    <p class="faint">${words.key.hint}</p>
  </form>`;
}
