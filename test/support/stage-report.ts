import { relative } from 'node:path';

type Counts = { readonly covered: number; readonly total: number };

/** Parts of Istanbul's types that the report reads. */
type FileCoverage = {
  readonly path: string;
  toSummary(): { readonly data: { readonly lines: Counts; readonly branches: Counts } };
};
type Node = { getFileCoverage(): FileCoverage };
type Context = {
  getTree(summarizer: 'flat'): { visit(visitor: { onDetail(node: Node): void }, context: Context): void };
};

const none: Counts = { covered: 0, total: 0 };

/** A coverage reporter: prints the table of stages in test/README.md. A stage is a folder of `service` or `operator`. */
export default class StageReport {
  execute(context: Context): void {
    const stages = new Map<string, { readonly lines: Counts; readonly branches: Counts }>();
    const onDetail = (node: Node): void => {
      const file = node.getFileCoverage();
      const { lines, branches } = file.toSummary().data;
      const stage = relative('.', file.path).split('/').slice(0, -1).slice(0, 2).join('/');
      const before = stages.get(stage) ?? { lines: none, branches: none };
      stages.set(stage, { lines: sum(before.lines, lines), branches: sum(before.branches, branches) });
    };
    context.getTree('flat').visit({ onDetail }, context);
    const rows = [...stages]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([stage, { lines, branches }]) => `| \`${stage}\` | ${percent(lines)} | ${percent(branches)} |`);
    process.stdout.write(['', '| Stage | Lines, % | Branches, % |', '|---|---|---|', ...rows, ''].join('\n'));
  }
}

const sum = (one: Counts, other: Counts): Counts => ({
  covered: one.covered + other.covered,
  total: one.total + other.total,
});

const percent = ({ covered, total }: Counts): string => (total === 0 ? '' : ((100 * covered) / total).toFixed(0));
