import { auctionMatchers } from './protocols/auctions.ts';
import { cocoonMatchers } from './protocols/cocoon.ts';
import { coffeeStakingMatchers } from './protocols/coffee-staking.ts';
import { coffeeMatchers } from './protocols/coffee.ts';
import { dedustLiquidityMatchers } from './protocols/dedust-liquidity.ts';
import { dedustMatchers } from './protocols/dedust.ts';
import { dnsMatchers } from './protocols/dns.ts';
import { electionMatchers } from './protocols/elections.ts';
import { evaaMatchers } from './protocols/evaa.ts';
import { fragmentMatchers } from './protocols/fragment.ts';
import { getgemsMatchers } from './protocols/getgems.ts';
import { jettonMatchers } from './operations/jettons.ts';
import { jvaultMatchers } from './protocols/jvault.ts';
import { layerzeroMatchers } from './protocols/layerzero.ts';
import { multisigMatchers } from './protocols/multisig.ts';
import { nftMatchers } from './operations/nft.ts';
import { stakingMatchers } from './protocols/staking.ts';
import { stonfiLiquidityMatchers } from './protocols/stonfi-liquidity.ts';
import { stonfiV2Matchers } from './protocols/stonfi-v2.ts';
import { stonfiMatchers } from './protocols/stonfi.ts';
import { subscriptionMatchers } from './protocols/subscriptions.ts';
import { tgbtcMatchers } from './protocols/tgbtc.ts';
import { toncoLiquidityMatchers } from './protocols/tonco-liquidity.ts';
import { toncoMatchers } from './protocols/tonco.ts';
import { vestingMatchers } from './protocols/vesting.ts';
import type { Matcher } from './engine/matcher.ts';

const families: readonly Readonly<Record<number, Matcher>>[] = [
  auctionMatchers,
  cocoonMatchers,
  coffeeStakingMatchers,
  coffeeMatchers,
  dedustLiquidityMatchers,
  dedustMatchers,
  dnsMatchers,
  electionMatchers,
  evaaMatchers,
  fragmentMatchers,
  getgemsMatchers,
  jettonMatchers,
  jvaultMatchers,
  layerzeroMatchers,
  multisigMatchers,
  nftMatchers,
  stakingMatchers,
  stonfiLiquidityMatchers,
  stonfiV2Matchers,
  stonfiMatchers,
  subscriptionMatchers,
  tgbtcMatchers,
  toncoLiquidityMatchers,
  toncoMatchers,
  vestingMatchers,
];

/** All matchers in the order in which they run on a trace (service/actions/README.md#matchers). Each belongs to one family. */
export const matchers: readonly Matcher[] = families
  .flatMap((family) => Object.entries(family).map(([place, matcher]) => ({ place: Number(place), matcher })))
  .toSorted((one, other) => one.place - other.place)
  .map(({ matcher }) => matcher);
