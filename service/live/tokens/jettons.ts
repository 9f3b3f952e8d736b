import { readTokenContent } from './token-content.ts';
import { asAddress, asBoc, asCell, asInteger, asSlice, names, orNone } from './token-contract.ts';
import type { TokenContract } from './token-contract.ts';
import type { JettonMaster, JettonWallet } from './tokens.ts';

/** `get_jetton_data`: total supply, whether it can grow, admin, content, code of wallets (TEP-74). */
export async function readJettonMaster(contract: TokenContract): Promise<JettonMaster | undefined> {
  const stack = await contract.run('get_jetton_data', 5);
  const [totalSupply, mintable] = [asInteger(stack?.[0]), asInteger(stack?.[1])];
  const [admin, content, walletCode] = [asAddress(stack?.[2]), asCell(stack?.[3]), asBoc(stack?.[4])];
  if (totalSupply === undefined || mintable === undefined || admin === undefined) return undefined;
  if (content === undefined || walletCode === undefined) return undefined;
  return {
    kind: 'jettonMaster',
    totalSupply,
    mintable: mintable !== 0n,
    admin: orNone(admin),
    content: readTokenContent(content),
    walletCode,
  };
}

/**
 * Result of `get_wallet_data`: balance, owner, master, code (TEP-74).
 * Anybody can deploy a contract that claims these. The master must confirm that the owner's wallet is this account.
 */
export async function readJettonWallet(contract: TokenContract): Promise<JettonWallet | undefined> {
  const stack = await contract.run('get_wallet_data', 4);
  const [balance, owner, jetton] = [asInteger(stack?.[0]), asAddress(stack?.[1]), asAddress(stack?.[2])];
  const [ownerSlice, walletCode] = [asSlice(stack?.[1]), asBoc(stack?.[3])];
  if (balance === undefined || walletCode === undefined || ownerSlice === undefined) return undefined;
  if (owner === undefined || owner === 'none' || jetton === undefined || jetton === 'none') return undefined;
  const wallet = await contract.at(jetton).run('get_wallet_address', 1, [ownerSlice]);
  if (!names(wallet, contract.account)) return undefined;
  const claimed = await contract.run('is_claimed', 1);
  const flag = claimed?.length === 1 ? asInteger(claimed[0]) : undefined;
  const mintlessIsClaimed = flag === undefined ? undefined : flag !== 0n;
  return { kind: 'jettonWallet', balance, owner, jetton, mintlessIsClaimed, walletCode };
}
