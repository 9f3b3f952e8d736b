import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import type { ActionColumns } from '#service/actions/engine/columns.ts';
import { noColumns, type Action } from '#service/actions/engine/action-rows.ts';
import { columnsJson } from '#service/actions/engine/stored-columns.ts';
import { anyText } from '#test/support/any-text.ts';

function actionOf(columns: ActionColumns): Action {
  const action = {
    ...noColumns,
    traceId: '',
    actionId: '',
    type: 'call_contract',
    transactions: [],
    accounts: [],
    startLt: 1n,
    endLt: 1n,
    startUtime: 1,
    endUtime: 1,
    mcSeqnoEnd: 1,
    success: true,
    parentActionId: null,
    ancestorTypes: [],
  };
  return { ...action, ...columns };
}

it('says nothing of columns that say nothing', () => {
  expect(columnsJson(actionOf({}))).toEqual({});
});

it('keeps every column, amounts as decimal text, places in lists', () => {
  const columns: ActionColumns = {
    source: '0:AA',
    asset2Secondary: '0:BB',
    opcode: 0,
    value: 0n,
    amount: 2n ** 120n,
    extraCurrencies: { 100: '5' },
    data: { jetton_swap_data: { dex: 'x', none: null, swaps: [{ amount_in: 7n, asset_in: null }, null] } },
  };
  expect(columnsJson(actionOf(columns))).toEqual({
    source: '0:AA',
    asset2Secondary: '0:BB',
    opcode: 0,
    value: '0',
    amount: '1329227995784915872903807060280344576',
    extraCurrencies: { 100: '5' },
    data: { jetton_swap_data: { dex: 'x', swaps: [{ amount_in: '7' }, null] } },
  });
});

it('makes texts that Postgres can keep', () => {
  const texts = anyText({ maxLength: 20 });
  fc.assert(
    fc.property(texts, (content) => {
      const text = `a\0${content}\uD800`;
      const { data } = columnsJson(actionOf({ data: { ton_transfer_data: { content: text } } }));
      const stored = (data as { ton_transfer_data: { content: string } }).ton_transfer_data.content;
      expect(stored.includes('\0')).toBe(false);
      expect(stored.isWellFormed()).toBe(true);
      expect(stored).toBe(text.replaceAll('\0', '').toWellFormed());
    }),
    { seed: 5 },
  );
});
