import { keyOf, type KubernetesObject, type ObjectKey } from './object.ts';

/** A change of the cache. `initial`: it was there when the cache was first filled. */
export type CacheEvent =
  | { readonly type: 'added'; readonly object: KubernetesObject; readonly initial: boolean }
  | { readonly type: 'updated'; readonly object: KubernetesObject; readonly previous: KubernetesObject }
  | { readonly type: 'deleted'; readonly object: KubernetesObject };

/** Objects of one kind as last seen, found by key or by what an index makes of them. */
export type Cache = {
  get(key: ObjectKey): KubernetesObject | undefined;
  list(): Iterable<KubernetesObject>;
  /** Objects that the named index files under the value. */
  indexed(index: string, value: string): readonly KubernetesObject[];
  size(): number;
  /** Stores the server's answer to our write, unless the cache has a newer version. */
  put(object: KubernetesObject): void;
  /** An object that a watch reports. */
  set(object: KubernetesObject): void;
  /** An object that a watch reports as deleted. */
  remove(object: KubernetesObject): void;
  /** Replaces all objects of the namespace (undefined: all namespaces) at `version`. Missing objects were deleted. */
  replace(namespace: string | undefined, objects: readonly KubernetesObject[], version: string, initial: boolean): void;
  /** A version that the watch has passed. */
  passed(version: string): void;
};

export type CacheOptions = {
  /** Index name -> the values that an object is filed under. */
  readonly indexes?: Readonly<Record<string, (object: KubernetesObject) => readonly string[]>>;
  /** Trims an object before it is cached; default: removes managed fields (operator/README.md#watches). */
  readonly trim?: (object: KubernetesObject) => KubernetesObject;
};

type CacheDependencies = { readonly onEvent: (event: CacheEvent) => void };

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** The object without what other clients keep in it for themselves. */
export function trimmed(object: KubernetesObject): KubernetesObject {
  const { managedFields: _fields, annotations, ...metadata } = object.metadata;
  const remaining = Object.entries(annotations ?? {}).filter(([name]) => name !== lastApplied);
  return {
    ...object,
    metadata: { ...metadata, ...(remaining.length > 0 && { annotations: Object.fromEntries(remaining) }) },
  };
}

export function createCache(options: CacheOptions, { onEvent }: CacheDependencies): Cache {
  const objects = new Map<ObjectKey, KubernetesObject>();
  const trim = options.trim ?? trimmed;
  const indexes = Object.entries(options.indexes ?? {}).map(([name, valuesOf]) => ({
    name,
    valuesOf,
    filed: new Map<string, Set<ObjectKey>>(),
  }));
  let newest = '0';

  function store(object: KubernetesObject): void {
    const key = keyOf(object);
    const before = objects.get(key);
    if (before !== undefined) unfile(key, before);
    objects.set(key, object);
    for (const { valuesOf, filed } of indexes) {
      for (const value of valuesOf(object)) {
        const keys = filed.get(value) ?? new Set();
        keys.add(key);
        filed.set(value, keys);
      }
    }
  }

  function unfile(key: ObjectKey, object: KubernetesObject): void {
    for (const { valuesOf, filed } of indexes) {
      for (const value of valuesOf(object)) {
        const keys = filed.get(value);
        keys?.delete(key);
        if (keys?.size === 0) filed.delete(value);
      }
    }
  }

  function drop(object: KubernetesObject): void {
    const key = keyOf(object);
    unfile(key, object);
    objects.delete(key);
    onEvent({ type: 'deleted', object });
  }

  /** Takes the object in unless it is older than what is there. A new UID under the same name is another object. */
  function take(given: KubernetesObject, initial: boolean): void {
    const before = objects.get(keyOf(given));
    if (before !== undefined && !isNewer(versionOf(given), versionOf(before))) return;
    const object = trim(given);
    if (before !== undefined && before.metadata.uid === object.metadata.uid) {
      store(object);
      onEvent({ type: 'updated', object, previous: before });
      return;
    }
    if (before !== undefined) drop(before);
    store(object);
    onEvent({ type: 'added', object, initial });
  }

  function pass(version: string): void {
    if (isNewer(version, newest)) newest = version;
  }

  return {
    get: (key) => objects.get(key),
    list: () => objects.values(),
    indexed(index, value) {
      const keys = indexes.find(({ name }) => name === index)?.filed.get(value) ?? [];
      return [...keys].flatMap((key) => objects.get(key) ?? []);
    },
    size: () => objects.size,
    put(object) {
      // Absent though the watch has passed its version: it was deleted since.
      if (!objects.has(keyOf(object)) && !isNewer(versionOf(object), newest)) return;
      take(object, false);
    },
    set(object) {
      take(object, false);
      pass(versionOf(object));
    },
    remove(object) {
      const present = objects.get(keyOf(object));
      if (present !== undefined && present.metadata.uid === object.metadata.uid) drop(present);
      pass(versionOf(object));
    },
    replace(namespace, given, version, initial) {
      const listed = new Set(given.map(keyOf));
      for (const object of given) take(object, initial);
      for (const object of objects.values()) {
        const inScope = namespace === undefined || object.metadata.namespace === namespace;
        // Objects that we wrote after the list was made are absent from it, but exist.
        if (inScope && !listed.has(keyOf(object)) && !isNewer(versionOf(object), version)) drop(object);
      }
      pass(version);
    },
    passed: pass,
  };
}

function versionOf({ metadata }: KubernetesObject): string {
  return metadata.resourceVersion ?? '0';
}

/** Resource versions are decimal numbers that grow over all objects of a kind (Kubernetes KEP-5504). */
function isNewer(version: string, than: string): boolean {
  if (version.length !== than.length) return version.length > than.length;
  return version > than;
}
