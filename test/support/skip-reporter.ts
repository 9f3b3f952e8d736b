import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Ends a run with the number and the names of the tests that did not run, so that a green run hides no gap. */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')]
        .filter((test) => test.meta().isLeftOut !== true)
        .map((test: TestCase) => `${module.relativeModuleId} > ${test.fullName}`),
    );
    if (skipped.length === 0) return;
    process.stderr.write(`\nSKIPPED ${skipped.length} tests:\n${skipped.map((name) => `  ${name}\n`).join('')}`);
  }
}
