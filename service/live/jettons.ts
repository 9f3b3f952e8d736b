import type { AccountId } from './accounts.ts';
import { readTokenContent } from './token-content.ts';
import { asAddress, asBoc, asCell, asInteger, asSlice, names, orNobody } from './token-contract.ts';
import type { TokenContract } from './token-contract.ts';
import type { JettonMaster, JettonWallet } from './tokens.ts';
import type { StackCell, StackEntry } from './vm-values.ts';

type Stack = readonly StackEntry[] | undefined;

/** What a master says of itself. */
export type MasterData = {
  readonly totalSupply: bigint;
  readonly mintable: boolean;
  readonly admin: AccountId | undefined;
  readonly content: StackCell;
  readonly walletCode: StackEntry & { readonly type: 'cell' };
};

/** What a wallet says of itself: its master may know nothing of it. */
export type WalletData = {
  readonly balance: bigint;
  readonly owner: AccountId;
  readonly jetton: AccountId;
  readonly walletCode: StackEntry & { readonly type: 'cell' };
};

/** `get_jetton_data`: total supply, whether it can grow, admin, content, code of wallets (TEP-74). */
export function readMasterData(stack: Stack): MasterData | undefined {
  const [totalSupply, mintable] = [asInteger(stack?.[0]), asInteger(stack?.[1])];
  const [admin, content, walletCode] = [asAddress(stack?.[2]), asCell(stack?.[3]), stack?.[4]];
  if (totalSupply === undefined || mintable === undefined || admin === undefined) return undefined;
  if (content === undefined || walletCode?.type !== 'cell') return undefined;
  return { totalSupply, mintable: mintable !== 0n, admin: orNobody(admin), content, walletCode };
}

/** `get_wallet_data`: balance, owner, master, code (TEP-74). */
export function readWalletData(stack: Stack): WalletData | undefined {
  const [balance, owner, jetton] = [asInteger(stack?.[0]), asAddress(stack?.[1]), asAddress(stack?.[2])];
  const walletCode = stack?.[3];
  if (balance === undefined || walletCode?.type !== 'cell') return undefined;
  if (owner === undefined || owner === 'none' || jetton === undefined || jetton === 'none') return undefined;
  return { balance, owner, jetton, walletCode };
}

export async function readJettonMaster(contract: TokenContract): Promise<JettonMaster | undefined> {
  const data = readMasterData(await contract.run('get_jetton_data', 5));
  if (data === undefined) return undefined;
  const { content, walletCode, ...rest } = data;
  return { kind: 'jettonMaster', ...rest, content: readTokenContent(content), walletCode: asBoc(walletCode)! };
}

/** Anybody can deploy a contract that says it is a wallet: the master must say that the owner's wallet is this account. */
export async function readJettonWallet(contract: TokenContract): Promise<JettonWallet | undefined> {
  const stack = await contract.run('get_wallet_data', 4);
  const data = readWalletData(stack);
  const ownerSlice = asSlice(stack?.[1]);
  if (data === undefined || ownerSlice === undefined) return undefined;
  const wallet = await contract.at(data.jetton).run('get_wallet_address', 1, [ownerSlice]);
  if (!names(wallet, contract.account)) return undefined;
  const claimed = await contract.run('is_claimed', 1);
  const flag = claimed?.length === 1 ? asInteger(claimed[0]) : undefined;
  const mintlessIsClaimed = flag === undefined ? undefined : flag !== 0n;
  return { kind: 'jettonWallet', ...data, mintlessIsClaimed, walletCode: asBoc(data.walletCode)! };
}
