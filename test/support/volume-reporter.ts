import type { Reporter, TestModule } from 'vitest/node';

import { leftOut, repeatedKinds } from './repeated-kinds.ts';
import { volume } from './volume.ts';

/** Ends a quick run with what its volume left out: files by kind, and cases by file. */
export default class VolumeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = leftOut.length === 0 ? [] : repeatedKinds.flatMap((one) => linesOf(one.kind, one.quick, one.more));
    const cases = modules.flatMap((module) => {
      const { leftOut: skipped, of } = module.meta().drawn ?? { leftOut: 0, of: 0 };
      return skipped === 0 ? [] : [`  ${of - skipped} of ${of} cases: ${module.relativeModuleId}`];
    });
    if (files.length + cases.length === 0) return;
    const lines = [
      `VOLUME ${volume}: ${leftOut.length} files left out; npm run test:all runs them:`,
      ...files,
      ...cases,
    ];
    process.stderr.write(`\n${lines.join('\n')}\n`);
  }
}

function linesOf(kind: string, quick: readonly string[], more: readonly string[]): string[] {
  return [
    `  ${quick.length} of ${quick.length + more.length} files: ${kind}`,
    ...more.map((file) => `    not ${file}`),
  ];
}
