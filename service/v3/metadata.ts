import { list, map, named, object, optional, scalar, type Infer } from '../contract/shape.ts';
import { defineV3Operation, type V3Operation } from './operation.ts';
import { texts } from './parameters.ts';
import { requiredList } from './required-parameters.ts';
import { anyText, flag, intString, rawAddress } from './scalars.ts';

const tokenInfo = named(
  'TokenInfo',
  object({
    valid: optional(flag),
    type: optional(anyText),
    name: optional(anyText),
    symbol: optional(anyText),
    description: optional(anyText),
    image: optional(anyText),
    nft_index: optional(intString),
    is_nsfw: optional(flag),
    is_scam: optional(flag),
    extra: optional(scalar<Readonly<Record<string, unknown>>>({ type: 'object' })),
  }),
);

/** What the tokens among some accounts say of themselves, by raw address (v3 sheet 5.2). */
export const metadata = named(
  'Metadata',
  map(named('AddressMetadata', object({ is_indexed: flag, token_info: list(tokenInfo) })), rawAddress),
);

export type Metadata = Infer<typeof metadata>;

/** Metadata of an answer. No token is indexed, so that no account is known to be one. */
export function metadataOf(): Metadata {
  return {};
}

export function metadataOperations(): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'metadata',
      tag: 'accounts',
      summary: 'What the tokens among some accounts say of themselves.',
      parameters: { addresses: requiredList(texts('address'), 'at least 1 address required') },
      result: metadata,
      handle: () => Promise.resolve(metadataOf()),
    }),
  ];
}
