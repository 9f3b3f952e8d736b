import { beginCell, internal, type Address, type MessageRelaxed } from '@ton/core';

/**
 * An order to a wallet of jettons (TEP-74).
 * @param forward nanotons that notify the receiver; 0 sends no notification
 */
export function jettonOrder(
  wallet: Address,
  { to, amount, back, forward = 0n }: { to: Address; amount: bigint; back: Address; forward?: bigint },
): MessageRelaxed {
  const body = beginCell()
    .storeUint(0x0f8a7ea5, 32)
    .storeUint(77, 64)
    .storeCoins(amount)
    .storeAddress(to)
    .storeAddress(back)
    .storeBit(false)
    .storeCoins(forward)
    .storeBit(false)
    .endCell();
  return internal({ to: wallet, value: 200_000_000n, body });
}
