import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Order of test files: files on a control plane mostly wait, so they are spread over the other files that have their own thread. */
export default class FileSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of sequencers
    const sorted = await super.sort(files);
    const waiting = sorted.filter(({ project }) => project.name === 'cluster');
    const others = sorted.filter(({ project }) => project.name !== 'cluster');
    // Files that share threads stay together: a thread is ended when another kind of file comes.
    const isolated = others.filter(({ project }) => project.config.isolate);
    const shared = others.filter(({ project }) => !project.config.isolate);
    return [...spread(waiting, isolated), ...shared];
  }
}

/** Puts `some` at equal distances among the `others`. */
function spread<Item>(some: readonly Item[], others: readonly Item[]): Item[] {
  const step = others.length / Math.max(1, some.length);
  const groups = some.map((one, at) => [one, ...others.slice(Math.round(at * step), Math.round((at + 1) * step))]);
  return some.length === 0 ? [...others] : groups.flat();
}
