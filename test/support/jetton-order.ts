import { beginCell, internal, type Address, type MessageRelaxed } from '@ton/core';

/** An order to a wallet of jettons (TEP-74). */
export function jettonOrder(
  wallet: Address,
  { to, amount, back }: { to: Address; amount: bigint; back: Address },
): MessageRelaxed {
  const body = beginCell()
    .storeUint(0x0f8a7ea5, 32)
    .storeUint(77, 64)
    .storeCoins(amount)
    .storeAddress(to)
    .storeAddress(back)
    .storeBit(false)
    .storeCoins(0)
    .storeBit(false)
    .endCell();
  return internal({ to: wallet, value: 200_000_000n, body });
}
