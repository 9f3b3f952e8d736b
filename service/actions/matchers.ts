import { cocoonMatchers } from './families/cocoon.ts';
import { coffeeStakingMatchers } from './families/coffee-staking.ts';
import { coffeeMatchers } from './families/coffee.ts';
import { dedustMatchers } from './families/dedust.ts';
import { electionMatchers } from './families/elections.ts';
import { evaaMatchers } from './families/evaa.ts';
import { jettonMatchers } from './families/jettons.ts';
import { jvaultMatchers } from './families/jvault.ts';
import { multisigMatchers } from './families/multisig.ts';
import { nftMatchers } from './families/nft.ts';
import { stakingMatchers } from './families/staking.ts';
import { stonfiV2Matchers } from './families/stonfi-v2.ts';
import { stonfiMatchers } from './families/stonfi.ts';
import { subscriptionMatchers } from './families/subscriptions.ts';
import { tgbtcMatchers } from './families/tgbtc.ts';
import { vestingMatchers } from './families/vesting.ts';
import type { Matcher } from './matcher.ts';

const families: readonly Readonly<Record<number, Matcher>>[] = [
  cocoonMatchers,
  coffeeStakingMatchers,
  coffeeMatchers,
  dedustMatchers,
  electionMatchers,
  evaaMatchers,
  jettonMatchers,
  jvaultMatchers,
  multisigMatchers,
  nftMatchers,
  stakingMatchers,
  stonfiV2Matchers,
  stonfiMatchers,
  subscriptionMatchers,
  tgbtcMatchers,
  vestingMatchers,
];

/** All matchers in the order in which they look at a trace (indexing sheet 9.4); each belongs to one family. */
export const matchers: readonly Matcher[] = families
  .flatMap((family) => Object.entries(family).map(([place, matcher]) => ({ place: Number(place), matcher })))
  .toSorted((one, other) => one.place - other.place)
  .map(({ matcher }) => matcher);
