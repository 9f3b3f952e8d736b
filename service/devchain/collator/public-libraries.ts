import { BitWriter } from '#service/decode/bit-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { updateHashmap } from '#service/decode/hashmap-writer.ts';
import { lookupHashmap, walkHashmap } from '#service/decode/hashmap.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { CellAt } from '#service/decode/tlb/message-cells.ts';

const KEY_BITS = 256;

export type LibraryChange = {
  readonly id: Buffer;
  readonly before: number | undefined;
  readonly after: number | undefined;
};

/** Publisher of a forked network's libraries. The id belongs to no account, so that the libraries stay. */
const NOBODY = Buffer.alloc(32);

/** Returns the root of an account's libraries; undefined when it has none. @param account cell of `Account` */
export function librariesOf(states: CellStore, account: number | undefined): number | undefined {
  const state = account === undefined ? undefined : readAccount(states, account)?.state;
  return state?.kind === 'active' ? state.init.libraries : undefined;
}

/** The masterchain's libraries after accounts published or withdrew some: `HashmapE 256 LibDescr`. */
export function updatePublicLibraries(
  states: CellStore,
  root: number | undefined,
  changes: readonly LibraryChange[],
): number | undefined {
  let libraries = root;
  for (const { id, before, after } of changes) {
    const [old, now] = [listPublic(states, before), listPublic(states, after)];
    for (const key of old.keys()) if (!now.has(key)) libraries = publish(states, libraries, key, id, undefined);
    for (const [key, library] of now) if (!old.has(key)) libraries = publish(states, libraries, key, id, library);
  }
  return libraries;
}

/** The masterchain's libraries with some that no account of this network published. */
export function addPublicLibraries(
  states: CellStore,
  root: number | undefined,
  added: readonly CellAt[],
): number | undefined {
  let libraries = root;
  for (const { table, cell } of added) {
    const hash = table.hash(cell);
    if (hasLibrary(states, libraries, hash)) continue;
    libraries = publish(states, libraries, hash.toString('hex'), NOBODY, states.import(table, cell));
  }
  return libraries;
}

/** @param root of the masterchain's libraries */
export function hasLibrary(states: CellTable, root: number | undefined, hash: Buffer): boolean {
  return lookupHashmap(states, root, KEY_BITS, hash) !== undefined;
}

/** Lists public libraries by hash in hex, from `simple_lib$_ public:Bool root:^Cell`. Skips a library under a hash other than its own. */
function listPublic(states: CellStore, root: number | undefined): Map<string, number> {
  const libraries = new Map<string, number>();
  walkHashmap(states, root, KEY_BITS, (key, value) => {
    const isPublic = value.bit();
    const library = value.ref();
    if (isPublic && states.hashEquals(library, key)) libraries.set(key.toString('hex'), library);
  });
  return libraries;
}

/** Adds a publisher to `shared_lib_descr$00 lib:^Cell publishers:(Hashmap 256 True)`, or removes it when `library` is absent. */
function publish(
  states: CellStore,
  root: number | undefined,
  hash: string,
  publisher: Buffer,
  library: number | undefined,
): number | undefined {
  const key = Buffer.from(hash, 'hex');
  const entry = lookupHashmap(states, root, KEY_BITS, key);
  entry?.skip(2);
  const cell = entry?.ref() ?? library!;
  // The entry contains the dictionary of publishers inline. A separate cell makes the dictionary editable.
  const old = entry === undefined ? undefined : new BitWriter().rest(entry).finish(states);
  const write = library === undefined ? undefined : (): void => {};
  const publishers = updateHashmap(states, old, { bits: KEY_BITS }, [{ key: publisher, write }]);
  const descr = (writer: BitWriter): void => {
    writer.uint(0, 2).ref(cell).rest(new CellSlice(states, publishers!));
  };
  return updateHashmap(states, root, { bits: KEY_BITS }, [
    { key, write: publishers === undefined ? undefined : descr },
  ]);
}
