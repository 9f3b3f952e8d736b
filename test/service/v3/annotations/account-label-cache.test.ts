import { setImmediate } from 'node:timers/promises';

import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';

import { accountKey } from '#service/store/account-key.ts';
import { createAnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';
import { createAddressBooks } from '#service/v3/annotations/address-book.ts';
import { createAccountLabelCache } from '#service/v3/annotations/account-label-cache.ts';
import { createTokenInfoCache } from '#service/v3/annotations/token-info-cache.ts';
import { createTokenMetadata } from '#service/v3/annotations/metadata.ts';
import { createCacheMetrics } from '#service/v3/metrics.ts';
import type { V3Context } from '#service/v3/request/operation.ts';
import { bytes32 } from '#test/service/v2/scripted-accounts.ts';

const raw = `0:${'07'.repeat(32)}`;
const known = accountKey({ workchain: 0, id: bytes32(7) });

/** A store that knows one account and no code, and counts the accounts that it is asked for, and by how many queries at once. */
function contextOf(settings: { readonly addressBook: boolean; readonly metadata: boolean }) {
  const asked: number[] = [];
  const queries = { underWay: 0, most: 0 };
  const store = {
    read: async (sql: string, [keys]: readonly unknown[]) => {
      if (sql.includes('FROM codes')) return [];
      asked.push((keys as Uint8Array[]).length);
      queries.most = Math.max(queries.most, ++queries.underWay);
      await setImmediate();
      queries.underWay--;
      const rows = (keys as Uint8Array[]).map((key) => {
        const isKnown = Buffer.compare(key, known) === 0;
        return { code_hash: isKnown ? null : bytes32(4), domain: null, is_token: false, is_indexed: isKnown };
      });
      return [{ settled: '1', changed: [] }, ...rows];
    },
  };
  return { asked, queries, context: { store, settings } as unknown as V3Context };
}

const clock = (): number => 0;

function notesOf({ testOnly }: { readonly testOnly: boolean }) {
  const metrics = createCacheMetrics(new Registry());
  const accounts = createAccountLabelCache({ testOnly }, { clock, metrics });
  const tokens = createTokenInfoCache({}, { clock, metrics });
  return createAnswerAnnotations({
    accounts,
    ...createAddressBooks({ accounts }),
    ...createTokenMetadata({ accounts, tokens }),
  });
}

const everything = { addressBook: true, metadata: true };
const nothing = { addressBook: false, metadata: false };

describe('the address book of an answer', () => {
  test('is keyed by the addresses as they are shown, each once; literals stand for themselves', async () => {
    const { context } = contextOf(everything);
    const other = `-1:${'AB'.repeat(32)}`;
    const far = `512:${'AB'.repeat(32)}`;
    const book = await notesOf({ testOnly: true }).bookOf(
      [raw, null, other, raw, 'addr_none', 'addr_extern', far],
      context,
    );
    const literal = { user_friendly: 'addr_none', domain: null, interfaces: [] };
    expect(Object.entries(book.toJSON())).toEqual([
      [raw, { user_friendly: expect.stringMatching(/^0Q/), domain: null, interfaces: [] }],
      [other, { user_friendly: expect.stringMatching(/^kf/), domain: null, interfaces: [] }],
      ['addr_none', literal],
      ['addr_extern', literal],
      [far, literal],
    ]);
  });

  test('is asked for by two queries of five hundred accounts at a time, and not at all when the caller wants none', async () => {
    const many = Array.from({ length: 2500 }, (_, at) => `0:${at.toString(16).padStart(64, '0').toUpperCase()}`);
    const notes = notesOf({ testOnly: false });
    const { asked, queries, context } = contextOf(everything);
    expect(Object.keys((await notes.bookOf(many, context)).toJSON())).toEqual(many);
    expect(asked).toEqual([500, 500, 500, 500, 500]);
    expect(queries.most).toBe(2);
    const without = contextOf(nothing);
    expect((await notes.bookOf(many, without.context)).toJSON()).toEqual({});
    const told = await notes.notesOf(many, without.context);
    expect([told.address_book.toJSON(), told.metadata.toJSON()]).toEqual([{}, {}]);
    expect(without.asked).toEqual([]);
  });

  test('comes with the metadata by one query for both, and by none when no account is shown', async () => {
    const notes = notesOf({ testOnly: false });
    const { asked, context } = contextOf(everything);
    await notes.notesOf([raw, `0:${'08'.repeat(32)}`], context);
    expect(asked).toEqual([2]);
    const told = await notes.notesOf([null, 'addr_none'], context);
    expect([Object.keys(told.address_book.toJSON()), told.metadata.toJSON()]).toEqual([['addr_none'], {}]);
    expect(asked).toEqual([2]);
  });

  test.for([
    ['the book', { addressBook: true, metadata: false }, 1, [raw]],
    ['the metadata', { addressBook: false, metadata: true }, 1, []],
  ] as const)('may be wanted without the other: %s', async ([, settings, queries, book]) => {
    const { asked, context } = contextOf(settings);
    const told = await notesOf({ testOnly: false }).notesOf([raw], context);
    expect(asked).toHaveLength(queries);
    expect(Object.keys(told.address_book.toJSON())).toEqual(book);
  });
});
