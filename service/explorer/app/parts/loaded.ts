import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { ApiError } from '../api.ts';
import { safeText } from '../format.ts';
import { html } from '../html.ts';
import type { Load } from '../use-load.ts';
import { words } from '../texts.ts';
import { KeyForm } from './key-form.ts';

/** Draws the value of a load; before it a sign of loading, and beside it a failure with what the reader can do. */
export function Loaded<T>({ load, draw }: { readonly load: Load<T>; readonly draw: (value: T) => ComponentChildren }) {
  const { value, error } = load;
  return html`${error === undefined ? null : html`<${Failure} load=${load} error=${error} />`}
  ${value === undefined && error === undefined ? html`<p class="loading" role="status">${words.load.loading}</p>` : null}
  ${value === undefined ? null : draw(value)}`;
}

function Failure({ load, error }: { readonly load: Load<unknown>; readonly error: ApiError }) {
  const left = useCountdown(load.retryAtMs);
  return html`<div class="failure" role="alert">
    <p><strong>${meaningOf(error.status)}</strong> <span class="faint">${words.load.status(error.status)}</span></p>
    <p>${safeText(error.message, 500)}</p>
    ${error.status === 401 || error.status === 403 ? html`<${KeyForm} onChange=${load.reload} />` : null}
    <p>
      ${left === undefined ? null : html`<span>${words.load.retryIn(left)}</span> `}
      <button type="button" onClick=${load.reload}>${words.load.retry}</button>
    </p>
  </div>`;
}

/** Whole seconds until a moment, drawn each second. */
function useCountdown(untilMs: number | undefined): number | undefined {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (untilMs === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [untilMs]);
  return untilMs === undefined ? undefined : Math.max(0, Math.ceil((untilMs - now) / 1000));
}

function meaningOf(status: number): string {
  const { load } = words;
  if (status === 0) return load.away;
  if (status === 401) return load.refused;
  if (status === 403) return load.forbidden;
  if (status === 404) return load.notFound;
  if (status === 408 || status === 504) return load.late;
  if (status === 429) return load.limited;
  if (status === 503) return load.overloaded;
  return status >= 400 && status < 500 ? load.invalid : load.failed;
}
