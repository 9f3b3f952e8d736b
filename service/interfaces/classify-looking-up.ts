import { classifySteps, type Classified } from '../actions/classify.ts';
import type { EventTrace } from '../actions/event.ts';
import type { Interfaces } from '../actions/interfaces.ts';
import { createPacer, type Pacer } from '../contract/paced.ts';
import type { AccountFacts } from './facts.ts';
import { interfacesOf } from './known-facts.ts';

/** Facts of accounts, raw with upper-case hex; those that nothing is known of may be left out. */
export type LookUpFacts = (accounts: readonly string[]) => Promise<ReadonlyMap<string, AccountFacts>>;

/** Of accounts that have no transaction in the trace: a payload may name as many as its sender likes. */
const MENTIONED_MAX = 32;

/** What is found of one account names the next: a pool its lock wallet, and that its token. No rule goes further than three. */
const ROUNDS_MAX = 4;

/**
 * Classifies a trace and finds out by that which accounts it has to know beside those with a transaction, until it asks for no more
 * (indexing sheet 9.8). Each account is looked up once. Rejects as `lookUp` does.
 *
 * @param pacer is asked between the steps: a large trace must not hold up others
 */
export async function classifyLookingUp(
  trace: EventTrace,
  lookUp: LookUpFacts,
  pacer: Pacer = createPacer(undefined),
): Promise<Classified> {
  const facts = new Map<string, AccountFacts | undefined>();
  const learn = async (accounts: readonly string[]): Promise<void> => {
    const found = await lookUp(accounts);
    for (const account of accounts) facts.set(account, found.get(account));
  };
  await learn([...new Set(trace.transactions.map(({ account }) => account))]);
  let left = MENTIONED_MAX;
  for (let round = 1; ; round++) {
    const asked = new Set<string>();
    const interfaces = interfacesOf((account) => {
      if (!facts.has(account)) asked.add(account);
      return facts.get(account);
    });
    const classified = await classifyPaced(trace, interfaces, pacer);
    const next = [...asked].slice(0, left);
    if (next.length === 0 || round === ROUNDS_MAX) return classified;
    left -= next.length;
    await learn(next);
  }
}

async function classifyPaced(trace: EventTrace, interfaces: Interfaces, pacer: Pacer): Promise<Classified> {
  const steps = classifySteps(trace, interfaces);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const rest = pacer.pause();
    if (rest !== undefined) await rest;
  }
}
