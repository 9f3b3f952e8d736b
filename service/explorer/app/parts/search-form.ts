import { useApplication } from '../context.ts';
import { textOf } from '../form-text.ts';
import { html } from '../html.ts';
import { paths } from '../paths.ts';
import { words } from '../texts.ts';

/** The field of the head of every page. */
export function SearchForm({ text = '' }: { readonly text?: string }) {
  const { open } = useApplication();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const wanted = textOf(data, 'q').trim();
    if (wanted !== '') open(paths.search(wanted));
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <input
      name="q"
      type="search"
      aria-label=${words.search.label}
      placeholder=${words.search.placeholder}
      value=${text}
      autocomplete="off"
      spellcheck="false"
    />
    <button type="submit">${words.search.button}</button>
  </form>`;
}
