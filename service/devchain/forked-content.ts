import type { Logger } from 'pino';

import type { Boc } from '../decode/boc.ts';
import type { Chain, ChainBlock } from './chain/chain.ts';
import type { AccountPlace } from './collator/missing-account.ts';
import type { OriginReads, ForkedAccounts, ForkSource } from './fork/fork.ts';
import { accountAskedFor, bagSentBy, createForkedAccounts } from './fork/fork.ts';
import type { ForkedLibraries } from './fork/forked-libraries.ts';
import { createForkedLibraries } from './fork/forked-libraries.ts';
import type { PersistedNetwork } from './storage/persisted-network.ts';

/** Accounts and public libraries of a forked network, fetched on first use. */
export type ForkedContent = {
  readonly accounts: ForkedAccounts;
  readonly libraries: ForkedLibraries;
  /** Fetches an account on first use, and makes a block when the account exists. */
  ensure(place: AccountPlace): Promise<void>;
  /** Fetches the libraries that a bag's library cells name, and makes a block when any are new. */
  ensureLibraries(bag: Boc): Promise<void>;
  /** Fetches all that a lite-server query needs, before its answer. */
  readonly beforeAnswer: (request: Buffer) => Promise<void>;
};

export type ForkedContentDependencies = {
  readonly chain: Chain;
  readonly head: () => ChainBlock;
  /** Earlier requests of a stored fork. */
  readonly asked: OriginReads;
  /** Stored network, which records what the other network lacks. */
  readonly stored: PersistedNetwork | undefined;
  /** Most bytes of cached original accounts. */
  readonly originalBytesMax: number;
  readonly makeBlock: () => Promise<unknown>;
  readonly logger: Logger;
};

export function createForkedContent(
  source: ForkSource,
  { chain, head, asked, stored, originalBytesMax, makeBlock, logger }: ForkedContentDependencies,
): ForkedContent {
  const libraries = createForkedLibraries(source, {
    chain,
    head,
    absent: asked.absentLibraries,
    keepAbsent: (hash) => stored?.appendAbsentLibrary(hash),
    logger,
  });
  const accounts = createForkedAccounts(source, {
    chain,
    head,
    asked: asked.accounts,
    keepAbsent: (place) => stored?.appendAbsent(place),
    originalBytesMax,
    fetchLibraries: (bag) => libraries.fetch(bag),
  });

  const ensure = (place: AccountPlace): Promise<void> => accounts.ensure(place, makeBlock);

  async function ensureLibraries(bag: Boc): Promise<void> {
    await libraries.fetch(bag);
    if (libraries.waiting().length > 0) await makeBlock();
  }

  return {
    accounts,
    libraries,
    ensure,
    ensureLibraries,
    async beforeAnswer(request) {
      const place = accountAskedFor(request);
      if (place !== undefined) await ensure(place);
      const bag = bagSentBy(request);
      if (bag !== undefined) await ensureLibraries(bag);
    },
  };
}
