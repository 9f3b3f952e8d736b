import { list, map, named, object, optional, type Infer } from '#service/contract/shape.ts';
import { addressBook } from '#service/v3/annotations/address-book.ts';
import { metadata } from '#service/v3/annotations/metadata.ts';
import { base64, flag, hash, integer } from '#service/v3/request/scalars.ts';
import { action } from '#service/v3/views/action-views.ts';
import { traceNode, transactionsByHash } from '#service/v3/views/trace-views.ts';

/** An emulated trace (service/emulate/README.md#answer). */
export const emulateTraceResponse = named(
  'EmulateTraceResponse',
  object({
    mc_block_seqno: integer,
    trace: traceNode,
    transactions: transactionsByHash,
    actions: list(action),
    code_cells: map(base64, hash),
    data_cells: map(base64, hash),
    address_book: optional(addressBook),
    metadata: optional(metadata),
    rand_seed: hash,
    is_incomplete: flag,
    overridden: optional(flag),
  }),
);

export type EmulateTraceResponse = Infer<typeof emulateTraceResponse>;
