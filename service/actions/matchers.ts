import { auctionMatchers } from './auctions.ts';
import { cocoonMatchers } from './cocoon.ts';
import { coffeeStakingMatchers } from './coffee-staking.ts';
import { coffeeMatchers } from './coffee.ts';
import { dedustLiquidityMatchers } from './dedust-liquidity.ts';
import { dedustMatchers } from './dedust.ts';
import { dnsMatchers } from './dns.ts';
import { electionMatchers } from './elections.ts';
import { evaaMatchers } from './evaa.ts';
import { fragmentMatchers } from './fragment.ts';
import { getgemsMatchers } from './getgems.ts';
import { jettonMatchers } from './jettons.ts';
import { jvaultMatchers } from './jvault.ts';
import { layerzeroMatchers } from './layerzero.ts';
import { multisigMatchers } from './multisig.ts';
import { nftMatchers } from './nft.ts';
import { stakingMatchers } from './staking.ts';
import { stonfiLiquidityMatchers } from './stonfi-liquidity.ts';
import { stonfiV2Matchers } from './stonfi-v2.ts';
import { stonfiMatchers } from './stonfi.ts';
import { subscriptionMatchers } from './subscriptions.ts';
import { tgbtcMatchers } from './tgbtc.ts';
import { toncoMatchers } from './tonco.ts';
import { vestingMatchers } from './vesting.ts';
import type { Matcher } from './matcher.ts';

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
  toncoMatchers,
  vestingMatchers,
];

/** All matchers in the order in which they run on a trace (service/actions/README.md#matchers). Each belongs to one family. */
export const matchers: readonly Matcher[] = families
  .flatMap((family) => Object.entries(family).map(([place, matcher]) => ({ place: Number(place), matcher })))
  .toSorted((one, other) => one.place - other.place)
  .map(({ matcher }) => matcher);
