import { mapAnswer, type Operation } from '../contract/operation.ts';
import { RawJson } from '../contract/json-stream.ts';
import { isMemoized, memoizeView } from '../contract/memoized-view.ts';

/** Possible `@type`s of block ids: views write the first, which clients check (service/v2/README.md#shared-objects). */
export type BlockIdTag = 'ton.blockIdExt' | 'chain.blockIdExt';

const written: BlockIdTag = 'ton.blockIdExt';

/** Name of the tag's schema in the document. */
const SCHEMA = 'BlockIdTag';

/** Renames block ids of an operation, in answers and in the document. Returns the operation itself when the tag is the default. */
export function tagBlockIds(operation: Operation, tag: BlockIdTag): Operation {
  const { result } = operation;
  if (tag === written || !result.definitions.has(SCHEMA)) return operation;
  const retagOnce = memoizeView((value: object) => retag(value, tag));
  // A result that is made for one answer may be long: it is written in slices, and so without a memory of its text.
  const retagged = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && isMemoized(value) ? retagOnce(value) : retag(value, tag);
  return {
    ...operation,
    result: { ...result, definitions: new Map([...result.definitions, [SCHEMA, { const: tag }]]) },
    run: async (source, context) => mapAnswer(await operation.run(source, context), retagged),
  };
}

/**
 * A copy of a JSON value; as deep as answers are. What `JSON.rawJSON` made stays as it is: a copy would not be written raw. Written transactions
 * have no block ids.
 */
function retag(value: unknown, tag: BlockIdTag): unknown {
  if (Array.isArray(value)) return value.map((item) => retag(item, tag));
  if (typeof value !== 'object' || value === null || 'rawJSON' in value || value instanceof RawJson) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    name === '@type' && field === written ? tag : retag(field, tag),
  ]);
  return Object.fromEntries(entries) as unknown;
}
