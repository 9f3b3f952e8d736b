import { classifySteps, type Classified } from '../actions/classify.ts';
import type { ClassifierTrace } from '../actions/engine/classifier-input.ts';
import type { Interfaces } from '../actions/engine/interfaces.ts';
import { createTimeSlice, type TimeSlice } from '../runtime/time-slice.ts';
import type { AccountFacts } from './facts.ts';
import { interfacesOf } from './known-facts.ts';

/** Returns facts of accounts, raw with upper-case hex. Accounts without facts may be missing. */
export type LookUpFacts = (accounts: readonly string[]) => Promise<ReadonlyMap<string, AccountFacts>>;

/** Most accounts without a transaction in the trace. A payload may name any number of accounts. */
const MENTIONED_MAX = 32;

/** Most rounds of lookups. Facts of an account name the next one: a pool its lock wallet, and the wallet its token. No rule needs more than three. */
const ROUNDS_MAX = 4;

/**
 * Classifies a trace and looks up further accounts that the rules ask for, until they ask for no more
 * (service/actions/README.md#facts-about-accounts). Each account is looked up once. Rejects like `lookUp`.
 *
 * @param timeSlice called between the steps, because a large trace must not block other work
 */
export async function classifyWithLookups(
  trace: ClassifierTrace,
  lookUp: LookUpFacts,
  timeSlice: TimeSlice = createTimeSlice(undefined),
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
    const classified = await classifyPaced(trace, interfaces, timeSlice);
    const next = [...asked].slice(0, left);
    if (next.length === 0 || round === ROUNDS_MAX) return classified;
    left -= next.length;
    await learn(next);
  }
}

async function classifyPaced(
  trace: ClassifierTrace,
  interfaces: Interfaces,
  timeSlice: TimeSlice,
): Promise<Classified> {
  const steps = classifySteps(trace, interfaces);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const rest = timeSlice.pause();
    if (rest !== undefined) await rest;
  }
}
