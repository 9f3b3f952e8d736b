import { STACK_ENTRIES_MAX } from '../tvm/stack.ts';
import { base64, boc, flag } from './scalars.ts';
import {
  constant,
  list,
  named,
  object,
  referenceTo,
  scalar,
  variants,
  type Infer,
  type Shape,
} from '../contract/shape.ts';

// Forms of VM values in answers (service/v2/README.md#stack).

export const int256 = named(
  'Int256',
  scalar<string>({ type: 'string', pattern: '^(?:0|-?[1-9]\\d*)$', description: 'signed decimal' }),
);

export const tvmCell = named('TvmCell', object({ '@type': constant('tvm.cell'), bytes: boc }));
const tvmSlice = named('TvmSlice', object({ '@type': constant('tvm.slice'), bytes: boc }));
const tvmNumber = named('TvmNumberDecimal', object({ '@type': constant('tvm.numberDecimal'), number: int256 }));

/** Value in the typed form. The type is explicit, because it is recursive. */
export type StackEntryView =
  | { readonly '@type': 'tvm.stackEntryNumber'; readonly number: Infer<typeof tvmNumber> }
  | { readonly '@type': 'tvm.stackEntryCell'; readonly cell: Infer<typeof tvmCell> }
  | { readonly '@type': 'tvm.stackEntrySlice'; readonly slice: Infer<typeof tvmSlice> }
  | { readonly '@type': 'tvm.stackEntryTuple'; readonly tuple: ElementsView<'tvm.tuple'> }
  | { readonly '@type': 'tvm.stackEntryList'; readonly list: ElementsView<'tvm.list'> }
  | { readonly '@type': 'tvm.stackEntryUnsupported' };

export type ElementsView<T extends string> = { readonly '@type': T; readonly elements: readonly StackEntryView[] };

const itself: Shape<StackEntryView> = { schema: { $ref: referenceTo('StackEntry') }, definitions: new Map() };
const tvmTuple = named('TvmTuple', object({ '@type': constant('tvm.tuple'), elements: list(itself) }));
const tvmList = named('TvmList', object({ '@type': constant('tvm.list'), elements: list(itself) }));

const typedEntries = [
  named('StackEntryNumber', object({ '@type': constant('tvm.stackEntryNumber'), number: tvmNumber })),
  named('StackEntryCell', object({ '@type': constant('tvm.stackEntryCell'), cell: tvmCell })),
  named('StackEntrySlice', object({ '@type': constant('tvm.stackEntrySlice'), slice: tvmSlice })),
  named('StackEntryTuple', object({ '@type': constant('tvm.stackEntryTuple'), tuple: tvmTuple })),
  named('StackEntryList', object({ '@type': constant('tvm.stackEntryList'), list: tvmList })),
  named('StackEntryUnsupported', object({ '@type': constant('tvm.stackEntryUnsupported') })),
] as const;

const stackEntry: Shape<StackEntryView> = named(
  'StackEntry',
  variants(
    '@type',
    {
      'tvm.stackEntryNumber': 'StackEntryNumber',
      'tvm.stackEntryCell': 'StackEntryCell',
      'tvm.stackEntrySlice': 'StackEntrySlice',
      'tvm.stackEntryTuple': 'StackEntryTuple',
      'tvm.stackEntryList': 'StackEntryList',
      'tvm.stackEntryUnsupported': 'StackEntryUnsupported',
    },
    typedEntries,
  ),
);

export const typedStackShape = list(stackEntry, STACK_ENTRIES_MAX);

/** A cell as nested objects: bits as they are stored, with the tag that completes the last byte. */
export type LegacyCellView = {
  readonly data: { readonly b64: string; readonly len: number };
  readonly refs: readonly LegacyCellView[];
  readonly special: boolean;
};

const cellItself: Shape<LegacyCellView> = { schema: { $ref: referenceTo('LegacyCell') }, definitions: new Map() };

const legacyCell: Shape<LegacyCellView> = named(
  'LegacyCell',
  object({
    data: object({ b64: base64, len: scalar<number>({ type: 'integer', minimum: 0, maximum: 1023 }) }),
    refs: list(cellItself, 4),
    special: flag,
  }),
);

/** An array of a type and a value. */
function pair<T extends string, V>(tag: T, value: Shape<V>): Shape<readonly [T, V]> {
  return {
    schema: { type: 'array', prefixItems: [{ const: tag }, value.schema], items: false, minItems: 2, maxItems: 2 },
    definitions: value.definitions,
  };
}

const hexNumber = scalar<string>({ type: 'string', pattern: '^(?:0x0|-?0x[1-9a-f][0-9a-f]*)$' });

const legacyEntries = [
  named('LegacyNum', pair('num', hexNumber)),
  named('LegacyCellEntry', pair('cell', object({ bytes: boc, object: legacyCell }))),
  named('LegacyTuple', pair('tuple', tvmTuple)),
  named('LegacyList', pair('list', tvmList)),
  named('LegacyUnsupported', pair('unsupported', constant(''))),
] as const;

/** Value in the legacy form. */
export type LegacyEntryView = Infer<(typeof legacyEntries)[number]>;

const legacyEntry: Shape<LegacyEntryView> = named('LegacyStackEntry', {
  schema: { oneOf: legacyEntries.map(({ schema }) => schema) },
  definitions: new Map([...stackEntry.definitions, ...legacyEntries.flatMap(({ definitions }) => [...definitions])]),
});

export const legacyStackShape = list(legacyEntry, STACK_ENTRIES_MAX);
