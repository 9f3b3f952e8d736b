import type { CellSlice } from '../cell-slice.ts';

/** First 32 bits of the body of a bounced message: the older form, and the form of TEP-503. */
export const BOUNCE_OPCODES = [0xffffffff, 0xfffffffe] as const;

const [OLDER, NEWER] = BOUNCE_OPCODES;

/**
 * Reads the body that a bounced message returns, as far as the message contains it. Undefined for a body of another form. `bounce#ffffffff
 * original_body:(## n)`, `new_bounce_body#fffffffe original_body:^Cell original_info:^NewBounceOriginalInfo bounced_by_phase:uint8 exit_code:int32
 * compute_phase:(Maybe NewBounceComputePhaseInfo)`. Throws DecodeError when the body ends too soon.
 * @param slice at the beginning of the body; moved
 */
export function openBouncedBody(slice: CellSlice): CellSlice | undefined {
  const opcode = slice.uint(32);
  if (opcode === OLDER) return slice;
  return opcode === NEWER ? slice.refSlice() : undefined;
}
