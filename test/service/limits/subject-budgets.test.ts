import { describe, expect, it } from 'vitest';

import type { Shortage } from '#service/limits/budget.ts';
import type { Budgets } from '#service/limits/budgets.ts';
import type { Subject } from '#service/limits/callers.ts';
import { createSubjectBudgets } from '#service/limits/subject-budgets.ts';

const short: Shortage = { reason: 'rate', retryAfterSeconds: 1 };

/** A network of IPv6 in its site: each request needs both budgets. */
const site = { name: 'site', budget: 'site', priced: {} } as unknown as Subject;
const network = { ...site, name: 'network', budget: 'network', site } as unknown as Subject;

/** Budgets whose answers come later, as with a shared Redis, and what is done to them. */
function remote(answers: Readonly<Record<string, Shortage | Error>>) {
  const done: string[] = [];
  const answer = async (what: string, name: string): Promise<Shortage | undefined> => {
    done.push(`${what} ${name}`);
    const given = answers[name];
    if (given instanceof Error) throw given;
    return given;
  };
  const budgets = {
    take: (name: string) => answer('take', name),
    takeSlot: (name: string) => answer('slot', name),
    giveBack: (budget: unknown) => done.push(`give back ${String(budget)}`),
    freeSlot: (name: string) => done.push(`free ${name}`),
    shortage: (budget: unknown) => answers[String(budget)],
  } as unknown as Budgets;
  return { subjects: createSubjectBudgets(budgets), done };
}

describe('the two budgets of an IPv6 network', () => {
  it('a request takes from both', async () => {
    const { subjects, done } = remote({});
    expect(await subjects.take(network, 0, 1)).toBeUndefined();
    expect(await subjects.takeSlot(network, 0)).toBeUndefined();
    expect(done).toEqual(['take network', 'take site', 'slot network', 'slot site']);
  });

  const givenBack = ['take network', 'take site', 'give back network', 'slot network', 'slot site', 'free network'];

  it('a request that the first refuses takes nothing from the second', async () => {
    const { subjects, done } = remote({ network: short });
    expect(await subjects.take(network, 0, 1)).toBe(short);
    expect(await subjects.takeSlot(network, 0)).toBe(short);
    expect(done).toEqual(['take network', 'slot network']);
  });

  it('a request that the second refuses gives the first its part back', async () => {
    const { subjects, done } = remote({ site: short });
    expect(await subjects.take(network, 0, 1)).toBe(short);
    expect(await subjects.takeSlot(network, 0)).toBe(short);
    expect(done).toEqual(givenBack);
  });

  it('a request at whose second budget an error happens gives the first its part back', async () => {
    const { subjects, done } = remote({ site: new Error('lost') });
    await expect(subjects.take(network, 0, 1)).rejects.toThrow('lost');
    await expect(subjects.takeSlot(network, 0)).rejects.toThrow('lost');
    expect(done).toEqual(givenBack);
  });

  it('a shortage of either is a shortage', () => {
    expect(remote({}).subjects.shortage(network, 0, 1)).toBeUndefined();
    expect(remote({ network: short }).subjects.shortage(network, 0, 1)).toBe(short);
    expect(remote({ site: short }).subjects.shortage(network, 0, 1)).toBe(short);
    expect(remote({}).subjects.shortage(site, 0, 1)).toBeUndefined();
  });
});
