/**
 * Values attached to an object for its lifetime: a WeakMap whose entries are hidden properties of their keys.
 * Entries of a real WeakMap, made with each answer, outlive collections of young objects with all that they reference.
 * They make each of these collections several times as long.
 */
export type HiddenProperty<K extends object, V> = {
  of(key: K): V | undefined;
  /** At most once for a key. The key is not frozen. */
  attach(key: K, value: V): void;
};

export function createHiddenProperty<K extends object, V>(): HiddenProperty<K, V> {
  const property = Symbol('hidden');
  type Key = { readonly [property]?: V };
  return {
    of: (key) => (key as Key)[property],
    // Hidden, so that a copy of the object is without it.
    attach: (key, value) => void Object.defineProperty(key, property, { value }),
  };
}
