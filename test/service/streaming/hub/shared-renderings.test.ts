import { describe, expect, it } from 'vitest';

import { readLabels } from '#service/streaming/hub/label-texts.ts';
import { SharedRenderings } from '#service/streaming/hub/shared-renderings.ts';
import { viewerOf } from '#service/streaming/hub/viewer.ts';
import { account, action, createHubUnderTest, hash, noLabels, trace, transaction, wishOf } from './hub-under-test.ts';

const a = account('A');

const [plain, labelled] = [{}, { includeAddressBook: true }].map((labels) =>
  wishOf({ accounts: new Set([a]), ...labels }),
);
const viewer = viewerOf(plain!);
const none = await readLabels(noLabels, [], plain!, new AbortController().signal);

/** A trace of one transaction. @param onWritten called when the transaction becomes text */
function written(number: number, onWritten: () => void, text = '') {
  const view = {
    toJSON() {
      onWritten();
      return { account: a, hash: `t${number}`, text };
    },
  };
  return trace(hash(number), {
    position: { mcSeqno: number, index: 0 },
    transactions: [{ ...transaction(`t${number}`, a), view }],
    actions: [action('transfer', [a])],
  });
}

describe('traces that many connections read again', () => {
  it('become text once for all of them, and once more for a connection that asks for labels', async () => {
    let texts = 0;
    const { block, open } = createHubUnderTest();
    const first = open();
    await first.subscribe({ accounts: new Set([a]) });
    const { cursor } = first.begun[0]!;
    first.connection.close();
    await block(
      written(1, () => texts++),
      written(2, () => texts++),
    );
    expect(texts).toBe(0);
    const callers = Array.from({ length: 20 }, () => open());
    await Promise.all(callers.map((caller) => caller.subscribe({ accounts: new Set([a]) }, cursor)));
    expect(callers.map(({ events }) => events.length)).toEqual(callers.map(() => 2));
    expect(texts).toBe(2);
    const other = open();
    await other.subscribe({ ...labelled, accounts: new Set([a]) }, cursor);
    expect(other.events).toMatchObject([{ address_book: {} }, { address_book: {} }]);
    expect(texts).toBe(4);
  });

  it('are forgotten together when their texts take too many bytes', () => {
    let texts = 0;
    const shared = new SharedRenderings(20_000);
    const read = (one: ReturnType<typeof written>): void => {
      const { accounts, viewsFor } = shared.of(one, none);
      viewsFor(viewer, accounts.select([0]), false);
    };
    const [small, large] = [written(1, () => texts++), written(2, () => texts++, 'x'.repeat(20_000))];
    for (let time = 0; time < 3; time++) read(small);
    expect(texts).toBe(1);
    read(large);
    read(small);
    expect(texts).toBe(3);
  });

  it('are forgotten also after many uses without a new text', () => {
    const shared = new SharedRenderings(20_000);
    const one = written(1, () => undefined);
    const before = shared.of(one, none);
    expect(shared.of(one, none)).toBe(before);
    for (let use = 0; use < 40; use++) shared.of(one, none);
    expect(shared.of(one, none)).not.toBe(before);
  });
});
