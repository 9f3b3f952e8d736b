import { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import { writeStandardAddress } from './message-address.ts';

/** Account that began a chain of messages, and the message's depth in the chain. */
export type MessageMetadata = {
  readonly mode: number;
  readonly depth: number;
  readonly initiator: { readonly workchain: number; readonly id: Buffer };
  readonly initiatorLt: bigint;
};

/** Message on its way between shards. */
export type MessageEnvelope = {
  /** Number of the 96 bits of workchain and prefix that are the destination's, at the message's position and the next one. */
  readonly currentBits: number;
  readonly nextBits: number;
  /** Nanotons that the shards on the path may still take. */
  readonly forwardFeeRemaining: bigint;
  /** The message's cell. */
  readonly message: number;
  /** Lt at which a deferred message left its queue. */
  readonly emittedLt: bigint | undefined;
  readonly metadata: MessageMetadata | undefined;
};

/**
 * `msg_envelope#4 cur_addr:IntermediateAddress next_addr:IntermediateAddress fwd_fee_remaining:Grams msg:^(Message Any)`; `msg_envelope_v2#5` adds
 * `emitted_lt:(Maybe uint64) metadata:(Maybe MsgMetadata)`. Addresses are `interm_addr_regular$0 use_dest_bits:(#<= 96)`, the only kind that occurs.
 * Throws DecodeError `bad_tag`.
 */
export function readMessageEnvelope(slice: CellSlice): MessageEnvelope {
  const isSecond = slice.peekUint(4) === 5;
  slice.expectTag(4, isSecond ? 5 : 4, 'MsgEnvelope');
  return {
    currentBits: readIntermediateAddress(slice),
    nextBits: readIntermediateAddress(slice),
    forwardFeeRemaining: slice.coins(),
    message: slice.ref(),
    emittedLt: isSecond && slice.bit() ? slice.uint64() : undefined,
    metadata: isSecond && slice.bit() ? readMessageMetadata(slice) : undefined,
  };
}

function readIntermediateAddress(slice: CellSlice): number {
  slice.expectTag(1, 0, 'IntermediateAddress');
  return slice.uint(7);
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

/** The reverse of `readMessageEnvelope`. The second kind is written when it has fields that the first kind lacks. */
export function storeMessageEnvelope(store: CellStore, envelope: MessageEnvelope): number {
  const { emittedLt, metadata } = envelope;
  const isSecond = emittedLt !== undefined || metadata !== undefined;
  const writer = new BitWriter()
    .uint(isSecond ? 5 : 4, 4)
    .uint(envelope.currentBits, 8)
    .uint(envelope.nextBits, 8)
    .coins(envelope.forwardFeeRemaining)
    .ref(envelope.message);
  if (!isSecond) return writer.finish(store);
  writer.bit(emittedLt !== undefined);
  if (emittedLt !== undefined) writer.int(emittedLt, 64);
  writer.bit(metadata !== undefined);
  if (metadata !== undefined) writeMessageMetadata(writer, metadata);
  return writer.finish(store);
}

function writeMessageMetadata(writer: BitWriter, { depth, initiator, initiatorLt }: MessageMetadata): void {
  writeStandardAddress(writer.uint(0, 4).uint(depth, 32), initiator).int(initiatorLt, 64);
}
