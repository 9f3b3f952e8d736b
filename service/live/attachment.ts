/**
 * What is kept with an object for as long as the object lives: a WeakMap whose entries are hidden properties of their keys. Entries of a real one, made with
 * each answer, outlive collections of young objects together with all that they hold, and make each of those collections some times as long.
 */
export type Attachment<K extends object, V> = {
  of(key: K): V | undefined;
  /** Once for a key; `key` is not frozen. */
  attach(key: K, value: V): void;
};

export function createAttachment<K extends object, V>(): Attachment<K, V> {
  const property = Symbol('attachment');
  type Key = { readonly [property]?: V };
  return {
    of: (key) => (key as Key)[property],
    // Hidden, so that a copy of the object is without it.
    attach: (key, value) => void Object.defineProperty(key, property, { value }),
  };
}
