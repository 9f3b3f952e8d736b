import type { CellSlice } from '../decode/cell-slice.ts';

/** Who began the chain of messages that this one belongs to. */
export type MessageMetadata = {
  readonly mode: number;
  readonly depth: number;
  readonly initiator: { readonly workchain: number; readonly id: Buffer };
  readonly initiatorLt: bigint;
};

/** The message's cell of a `msg_envelope#4` or `msg_envelope_v2#5`, and the latter's metadata. */
export function readEnvelope(slice: CellSlice): {
  readonly message: number;
  readonly metadata: MessageMetadata | undefined;
} {
  const isSecond = slice.uint(4) === 5;
  for (let address = 0; address < 2; address++) skipIntermediateAddress(slice);
  slice.skipVarUint(16);
  const message = slice.ref();
  if (!isSecond) return { message, metadata: undefined };
  if (slice.bit()) slice.skip(64);
  return { message, metadata: slice.bit() ? readMessageMetadata(slice) : undefined };
}

/** `IntermediateAddress`: regular$0 with 7 bits, simple$10 with 8 + 64, ext$11 with 32 + 64. */
function skipIntermediateAddress(slice: CellSlice): void {
  if (!slice.bit()) slice.skip(7);
  else slice.skip(slice.bit() ? 96 : 72);
}

/** `msg_metadata#0 depth:uint32 initiator_addr:MsgAddressInt initiator_lt:uint64`. */
function readMessageMetadata(slice: CellSlice): MessageMetadata {
  slice.expectTag(4, 0, 'MsgMetadata');
  const depth = slice.uint(32);
  slice.expectTag(3, 0b100, 'MsgAddressInt');
  const workchain = slice.int(8);
  const id = slice.hash();
  return { mode: 0, depth, initiator: { workchain, id }, initiatorLt: slice.int64() };
}
