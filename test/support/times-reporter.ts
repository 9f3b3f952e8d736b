import { writeFileSync } from 'node:fs';

import type { Reporter, TestModule } from 'vitest/node';

/** Writes a table of test files, dearest first, to the file that `TONPLANE_TIMES` names: project, file, tests, wall and CPU seconds. */
export default class TimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['TONPLANE_TIMES'];
    if (file === undefined) return;
    const rows = modules.map((module) => ({
      name: `${module.project.name}\t${module.relativeModuleId}`,
      tests: [...module.children.allTests()].length,
      wallMs: wallMs(module),
      cpuMs: module.meta().cpuMs ?? 0,
    }));
    const lines = rows
      .toSorted((a, b) => b.wallMs - a.wallMs)
      .map(({ name, tests, wallMs: wall, cpuMs }) => `${name}\t${tests}\t${seconds(wall)}\t${seconds(cpuMs)}\n`);
    writeFileSync(file, `project\tfile\ttests\twall s\tCPU s\n${lines.join('')}`);
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

function wallMs(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
}
