import { basicTypes } from './engine/basic-types.ts';
import type { ActionType } from './engine/action-type.ts';
import type { Family } from './engine/family.ts';
import type { Matcher } from './engine/matcher.ts';
import { neededOpcodes, unionOf } from './engine/pattern.ts';
import { liquidityTypes } from './operations/liquidity.ts';
import { swapTypes } from './operations/swap.ts';
import { auctions } from './protocols/auctions.ts';
import { cocoon } from './protocols/cocoon.ts';
import { coffee } from './protocols/coffee.ts';
import { coffeeStaking } from './protocols/coffee-staking.ts';
import { dedust } from './protocols/dedust.ts';
import { dedustLiquidity } from './protocols/dedust-liquidity.ts';
import { dns } from './protocols/dns.ts';
import { elections } from './protocols/elections.ts';
import { evaa } from './protocols/evaa.ts';
import { fragment } from './protocols/fragment.ts';
import { getgems } from './protocols/getgems.ts';
import { jettons } from './operations/jettons.ts';
import { jvault } from './protocols/jvault.ts';
import { layerzero } from './protocols/layerzero.ts';
import { multisig } from './protocols/multisig.ts';
import { nft } from './operations/nft.ts';
import { staking } from './protocols/staking.ts';
import { stonfi } from './protocols/stonfi.ts';
import { stonfiLiquidity } from './protocols/stonfi-liquidity.ts';
import { stonfiV2 } from './protocols/stonfi-v2.ts';
import { subscriptions } from './protocols/subscriptions.ts';
import { tgbtc } from './protocols/tgbtc.ts';
import { tonco } from './protocols/tonco.ts';
import { toncoLiquidity } from './protocols/tonco-liquidity.ts';
import { vesting } from './protocols/vesting.ts';

const families = {
  basic: { types: basicTypes, matchers: {} },
  liquidity: { types: liquidityTypes, matchers: {} },
  swaps: { types: swapTypes, matchers: {} },
  auctions,
  cocoon,
  coffee,
  coffeeStaking,
  dedust,
  dedustLiquidity,
  dns,
  elections,
  evaa,
  fragment,
  getgems,
  jettons,
  jvault,
  layerzero,
  multisig,
  nft,
  staking,
  stonfi,
  stonfiLiquidity,
  stonfiV2,
  subscriptions,
  tgbtc,
  tonco,
  toncoLiquidity,
  vesting,
} satisfies Readonly<Record<string, Family>>;

type MatcherName = {
  [F in keyof typeof families]: `${F}.${keyof (typeof families)[F]['matchers'] & string}`;
}[keyof typeof families];

/** Precedence of all matchers: the order in which they run on a trace. A matcher takes the blocks that it merges from later matchers. */
const precedence = [
  'nft.mint',
  'staking.billPaid',
  'dedustLiquidity.final',
  'dedustLiquidity.partial',
  'staking.deposit',
  'staking.withdrawal',
  'multisig.createOrder',
  'multisig.approve',
  'multisig.execute',
  'vesting.sendMessage',
  'vesting.addWhitelist',
  'staking.nominatorDeposit',
  'staking.nominatorWithdrawal',
  'staking.nominatorPayout',
  'jettons.transfer',
  'jettons.proxyTonTransfer',
  'dedust.withdraw',
  'jettons.burn',
  'dedust.swap',
  'stonfi.swap',
  'stonfiV2.swap',
  'tonco.swap',
  'dns.release',
  'dns.purchase',
  'getgems.update',
  'nft.transfer',
  'nft.assignment',
  'nft.purchase',
  'getgems.putUp',
  'fragment.start',
  'fragment.cancel',
  'nft.discovery',
  'dns.change',
  'elections.deposit',
  'elections.recover',
  'subscriptions.subscribe',
  'subscriptions.unsubscribe',
  'auctions.bid',
  'auctions.outbid',
  'getgems.cancelSale',
  'getgems.finishAuction',
  'getgems.endAuction',
  'staking.dollarWithdrawal',
  'jettons.mint',
  'staking.dollarDeposit',
  'stonfiLiquidity.provide',
  'stonfiLiquidity.withdraw',
  'jvault.stake',
  'jvault.unstake',
  'jvault.claim',
  'jvault.unstakeRequest',
  'evaa.supply',
  'evaa.withdraw',
  'evaa.liquidate',
  'tgbtc.mint',
  'tgbtc.burn',
  'tgbtc.newKey',
  'tgbtc.mintAlone',
  'tgbtc.burnAlone',
  'tgbtc.newKeyAlone',
  'tgbtc.dkgAlone',
  'toncoLiquidity.deposit',
  'toncoLiquidity.deployPool',
  'toncoLiquidity.withdraw',
  'coffee.deposit',
  'coffee.swap',
  'coffee.withdraw',
  'coffee.createVault',
  'coffee.createCreator',
  'coffee.createPool',
  'coffee.holdFunds',
  'coffee.failedSwap',
  'coffeeStaking.deposit',
  'coffeeStaking.withdraw',
  'coffeeStaking.claim',
  'layerzero.send',
  'layerzero.sendTokens',
  'layerzero.receive',
  'layerzero.commitPacket',
  'layerzero.verify',
  'cocoon.workerPayout',
  'cocoon.proxyPayout',
  'cocoon.proxyCharge',
  'cocoon.clientTopUp',
  'cocoon.registerProxy',
  'cocoon.unregisterProxy',
  'cocoon.clientRegister',
  'cocoon.clientChangeSecretHash',
  'cocoon.clientRequestRefund',
  'cocoon.grantRefund',
  'cocoon.clientIncreaseStake',
  'cocoon.clientWithdraw',
] as const satisfies readonly MatcherName[];

/** A matcher without a precedence is a type error here. */
const complete: Exclude<MatcherName, (typeof precedence)[number]> extends never
  ? readonly MatcherName[]
  : readonly ['without a precedence', Exclude<MatcherName, (typeof precedence)[number]>] = precedence;

/** Names of all matchers by precedence, each as `<family>.<matcher>` (service/actions/README.md#matchers). */
export const matcherNames: readonly string[] = complete;

/** All matchers by precedence. */
export const matchers: readonly Matcher[] = matcherNames.map((name) => {
  const [family = '', matcher = ''] = name.split('.');
  return (families as Readonly<Record<string, Family>>)[family]!.matchers[matcher]!;
});

/**
 * Families with matchers, each with opcodes. A trace without these opcodes has nothing of the family. Undefined: any trace may have something of it.
 */
export const familyOpcodes: ReadonlyMap<string, ReadonlySet<number> | undefined> = new Map(
  Object.entries(families as Readonly<Record<string, Family>>).flatMap(([name, { matchers: all }]) => {
    const patterns = Object.values(all).map(({ pattern }) => pattern);
    return patterns.length === 0 ? [] : [[name, unionOf(patterns.map((pattern) => neededOpcodes(pattern)))] as const];
  }),
);

const allTypes = Object.values(families).flatMap(({ types }: Family) => Object.entries(types));

/** Types of actions, by name. */
export const actionTypes: ReadonlyMap<string, ActionType> = new Map(
  allTypes.flatMap(([name, type]) => ('isHelper' in type ? [] : [[name, type] as const])),
);

/** Types of fragments whose parts are no actions. */
export const indivisibleTypes: ReadonlySet<string> = new Set(
  allTypes.flatMap(([name, { isIndivisible }]) => (isIndivisible ? [name] : [])),
);
