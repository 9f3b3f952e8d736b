import type { Shortage } from './budget.ts';
import type { Budgets } from './budgets.ts';
import type { Subject } from './callers.ts';
import type { Quota } from './limits.ts';

type Settling = Shortage | undefined | Promise<Shortage | undefined>;

/** Budget of a subject together with that of its site. A request needs both, and a refusal takes nothing from either. */
export type SubjectBudgets = {
  /** Takes a slot from both, like `Budgets.takeSlot`. */
  takeSlot(subject: Subject, nowUs: number): Settling;
  freeSlot(subject: Subject): void;
  /** Takes tokens from both, like `Budgets.take`. */
  take(subject: Subject, nowUs: number, tokens: number): Settling;
  giveBack(subject: Subject, tokens: number): void;
  /** Returns a certain shortage of either, like `Budgets.shortage`. */
  shortage(subject: Subject, nowUs: number, tokens: number): Shortage | undefined;
  /** Returns the quota of the subject, with at most the tokens left of its site. */
  quota(subject: Subject, nowUs: number): Quota | null;
};

export function createSubjectBudgets(budgets: Budgets): SubjectBudgets {
  const freeSlot = ({ name, budget, priced, site }: Subject): void => {
    budgets.freeSlot(name, budget, priced.plan);
    if (site !== undefined) freeSlot(site);
  };
  const giveBack = ({ budget, site }: Subject, tokens: number): void => {
    budgets.giveBack(budget, tokens);
    if (site !== undefined) giveBack(site, tokens);
  };
  const takeSlot = ({ name, budget, priced, site }: Subject, nowUs: number): Settling => {
    const own = budgets.takeSlot(name, budget, priced.plan, nowUs);
    if (site === undefined) return own;
    const undo = (): void => budgets.freeSlot(name, budget, priced.plan);
    return bothOf(own, () => takeSlot(site, nowUs), undo);
  };
  const take = ({ name, budget, priced, site }: Subject, nowUs: number, tokens: number): Settling => {
    const own = budgets.take(name, budget, priced.plan, nowUs, tokens);
    if (site === undefined) return own;
    return bothOf(
      own,
      () => take(site, nowUs, tokens),
      () => budgets.giveBack(budget, tokens),
    );
  };
  const shortage = ({ budget, priced, site }: Subject, nowUs: number, tokens: number): Shortage | undefined =>
    budgets.shortage(budget, priced.plan, nowUs, tokens) ?? (site && shortage(site, nowUs, tokens));
  const quota = ({ budget, priced, site }: Subject, nowUs: number): Quota | null => {
    const own = budgets.quota(budget, priced.plan, nowUs);
    const wide = site === undefined ? null : quota(site, nowUs);
    if (own === null || wide === null || wide.remaining >= own.remaining) return own;
    return { ...own, remaining: wide.remaining, resetSeconds: wide.resetSeconds };
  };
  return { takeSlot, freeSlot, take, giveBack, shortage, quota };
}

/** Takes the second if the first succeeded, and undoes the first if the second failed. */
function bothOf(first: Settling, second: () => Settling, undo: () => void): Settling {
  if (first instanceof Promise) return first.then((shortage) => shortage ?? bothOf(undefined, second, undo));
  if (first !== undefined) return first;
  const settle = (shortage: Shortage | undefined): Shortage | undefined => {
    if (shortage !== undefined) undo();
    return shortage;
  };
  const wide = second();
  if (!(wide instanceof Promise)) return settle(wide);
  return wide.then(settle, (error: unknown) => {
    undo();
    throw error;
  });
}
