import type { ContractSlice } from '../cell-slice.ts';
import { readLabel } from '../hashmap.ts';
import { setValue, typed } from './decoded.ts';
import type { BodyBudget, ReadObject } from './decoded.ts';
import { bitsText } from './simple-types.ts';

/** `hashmap_label_short$0`, `hashmap_label_long$10`, `hashmap_label_same$11` of `HmLabel ~l n`, with its length. */
export function readLabelObject(
  slice: ContractSlice,
  rest: number,
  budget: BodyBudget,
): { readonly label: ReadObject; readonly length: number } {
  const isShort = slice.bitAhead(0) === 0;
  const { length, same } = readLabel(slice, rest);
  if (same !== undefined) {
    const label = typed('hashmap_label_same', budget);
    setValue(label, 'v', same === 1, budget);
    setValue(label, 'n', String(length), budget);
    return { label, length };
  }
  const label = typed(isShort ? 'hashmap_label_short' : 'hashmap_label_long', budget);
  if (isShort) setValue(label, 'len', unary(length, budget), budget);
  else setValue(label, 'n', String(length), budget);
  setValue(label, 's', bitsText(slice, length), budget);
  return { label, length };
}

/** `unary_zero$0`, `unary_succ$1 x:(Unary ~n)`. */
function unary(value: number, budget: BodyBudget): ReadObject {
  let shown = typed('unary_zero', budget);
  for (let left = value; left > 0; left--) {
    const more = typed('unary_succ', budget);
    setValue(more, 'x', shown, budget);
    shown = more;
  }
  return shown;
}
