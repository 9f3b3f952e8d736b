import { describe, expect, it } from 'vitest';

import { readSources } from './sources.ts';

/** Stages that read data of contracts and callers. */
const stages = [
  'actions',
  'interfaces',
  'interpreter',
  'live',
  'v2',
  'v3',
  'pending',
  'simulation',
  'emulate',
  'metadata',
  'contract',
];

/** Ways into cells that no budget pays for. */
const unpaid = [
  /import \{[^}]*\b(CellSlice|walkHashmap|lookupHashmap|writeBoc|writeBocInSteps|writeBocText|writeRestText)\b[^}]*\} from/,
  /\.refCount\(|\btable\.ref\(/,
];

/** Files that may take such a way, and the bound that stands in place of a budget. */
const bounded: Readonly<Record<string, string>> = {
  'service/actions/engine/event-transaction.ts': 'opens the parts of one transaction for readers with budgets',
  'service/contract/stack-results.ts': 'room for bags of one answer',
  'service/interpreter/transfers.ts': 'writes two payloads of one message of a block',
  'service/live/accounts/paced-cells.ts': 'writes one account, with the budget that its caller gives',
  'service/live/configuration/chain-config.ts': 'reads the proved configuration',
  'service/live/contracts/extended-accounts.ts': 'reads 32 bits of data',
  'service/live/send/external-message.ts': 'writes one message whose cells are counted',
  'service/live/configuration/live-configuration.ts': 'writes one proved parameter',
  'service/live/configuration/public-libraries.ts': 'writes one proved library',
  'service/pending/tails.ts': 'writes at most 128 messages of blocks, in slices',
  'service/simulation/simulate-message.ts': 'writes messages of a transaction that the VM wrote',
  'service/v2/legacy.ts': 'writes one cell of a caller, as large as its parameter',
  'service/v2/message-data.ts': 'reads texts of 16 cells, and writes each body once',
  'service/v2/stack-output.ts': 'counts cells before it writes them as objects',
  'service/v2/transaction-views.ts': 'writes one transaction',
  'service/v3/operations/decode.ts': 'opens bodies for `decodeBody`, which has a budget',
  'service/v3/views/message-views.ts': 'writes each body of a message once',
  'service/v3/views/payloads.ts': 'opens payloads for `decodeBody`, which has a budget',
};

describe('readers of contract data', () => {
  const sources = stages.flatMap((stage) => readSources(`service/${stage}`));
  const found = sources.filter(({ text }) =>
    unpaid.some((way) => way.test(text.replaceAll(/import type \{[^}]*\}/g, ''))),
  );

  it('take from a budget, or name the bound that stands in its place', () => {
    expect(found.map(({ path }) => path).filter((path) => bounded[path] === undefined)).toEqual([]);
  });

  it('name no bound that nothing needs', () => {
    const paths = new Set(found.map(({ path }) => path));
    expect(Object.keys(bounded).filter((path) => !paths.has(path))).toEqual([]);
  });

  it('of bodies walk dictionaries through budgets', () => {
    const readers = readSources('service/decode/messages');
    expect(readers.filter(({ text }) => /\b(walkHashmap|lookupHashmap)\b/.test(text)).map(({ path }) => path)).toEqual(
      [],
    );
  });
});
