import { createHiddenProperty } from '../runtime/hidden-property.ts';

/**
 * Views that were made here, with their JSON after the first rendering.
 * The JSON is attached to the value and lives as long, so the caches' own bounds limit it.
 */
const texts = createHiddenProperty<object, { json: string | undefined }>();

/** Shows each value once: a value that a cache gives again is shown as before, without the work. */
export function memoizeView<A extends object, C extends readonly unknown[], B>(
  view: (value: A, ...context: C) => B,
): (value: A, ...context: C) => B {
  const shown = createHiddenProperty<A, { readonly view: B }>();
  return (value, ...context) => {
    const before = shown.of(value);
    if (before !== undefined) return before.view;
    const made = { view: view(value, ...context) };
    shown.attach(value, made);
    const { view: result } = made;
    if (typeof result === 'object' && result !== null && !isMemoized(result)) texts.attach(result, { json: undefined });
    return made.view;
  };
}

/**
 * Shows each value once like `memoizeView`, in work that pauses. All who ask wait for the same work, so no request ends it. A refusal is
 * given again too.
 */
export function memoizePacedView<A extends object, B extends object>(
  view: (value: A) => Promise<B>,
): (value: A) => Promise<B> {
  const shown = createHiddenProperty<A, Promise<B>>();
  const show = async (value: A): Promise<B> => {
    const result = await view(value);
    texts.attach(result, { json: undefined });
    return result;
  };
  return (value) => {
    const before = shown.of(value);
    if (before !== undefined) return before;
    const made = show(value);
    shown.attach(value, made);
    return made;
  };
}

/** The JSON of a result; what was made here is written once. */
export function writeResult(result: unknown): string {
  if (typeof result !== 'object' || result === null) return JSON.stringify(result);
  const text = texts.of(result);
  return text === undefined ? JSON.stringify(result) : (text.json ??= JSON.stringify(result));
}

/** True for a result that was made here. */
export function isMemoized(result: object): boolean {
  return texts.of(result) !== undefined;
}
