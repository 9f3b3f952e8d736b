import { expect, it } from 'vitest';

import { methodRows, type MethodName } from '#service/devchain/dev/method-table.ts';
import { explorerPaths } from '#service/main/commands/explorer-links.ts';

const raw = `0:${'7b'.repeat(32)}`;
const friendly = 'EQB7e3t7e3t7e3t7e3t7e3t7e3t7e3t7e3t7e3t7e3t7ew61';

it.each<[MethodName, Record<string, unknown>, unknown, string[]]>([
  [
    'dev_fund',
    { address: raw, amount: '1' },
    { seqno: 7 },
    [`/explorer/account/${friendly}`, '/explorer/block/-1:8000000000000000:7'],
  ],
  [
    'dev_sendInternal',
    { from: raw, to: friendly, amount: '1' },
    {},
    [`/explorer/account/${friendly}`, `/explorer/account/${friendly}`],
  ],
  ['dev_mine', { blocks: 2 }, { seqno: 9 }, ['/explorer/block/-1:8000000000000000:9']],
  ['dev_snapshots', {}, [], []],
  ['dev_fund', { address: 'no address' }, null, []],
])('%s with %j and the result %j has the links %j', (name, params, result, paths) => {
  expect(explorerPaths(methodRows[name].parameters, params, result)).toEqual(paths);
});
