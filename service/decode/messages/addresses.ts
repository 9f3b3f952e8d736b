import { formatRawAddress } from '../address.ts';
import type { InternalAddress, MessageAddress } from '../tlb/message-address.ts';

/** Formats an address in the form of v3: `workchain:HEX`, or one of `addr_none`, `addr_extern`, `addr_var` (service/v3/README.md#values). */
export function addressText(address: MessageAddress | undefined): string {
  if (address === undefined) return 'addr_none';
  if (address.kind === 'external') return 'addr_extern';
  if (address.variable) return 'addr_var';
  return formatRawAddress({ workchain: address.workchain, id: rewritten(address) }, 'upper');
}

/** Returns the id of an anycast address: its first bits are replaced by the prefix. */
function rewritten({ id, anycast }: InternalAddress): Buffer {
  if (anycast === undefined) return id;
  const copy = Buffer.from(id);
  for (let bit = 0; bit < anycast.depth; bit++) {
    const mask = 128 >> (bit & 7);
    copy[bit >> 3] = (copy[bit >> 3]! & ~mask) | (anycast.prefix[bit >> 3]! & mask);
  }
  return copy;
}
