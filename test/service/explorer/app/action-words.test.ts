import { describe, expect, it } from 'vitest';

import { detailShapes } from '#service/actions/engine/detail-shapes.ts';
import { actionTypes } from '#service/actions/families.ts';
import { actionSentences } from '#service/explorer/app/action-sentences.gen.ts';
import { namesInSentence, wordsOfAction, type Piece } from '#service/explorer/app/action-words.ts';
import { generateActionSentences } from '#test/support/action-sentences.ts';

const alice = `0:${'A'.repeat(64)}`;
const bob = `0:${'B'.repeat(64)}`;
const master = `0:${'C'.repeat(64)}`;

describe('sentences of actions', () => {
  it('are the ones that `npm run generate` makes from the types of the classifier', async () => {
    expect(await generateActionSentences({ check: true })).toEqual([
      { path: 'service/explorer/app/action-sentences.gen.ts', clean: true },
    ]);
  });

  it('name only details that the type has', () => {
    const wrong = [...actionTypes].flatMap(([type, { details }]) => {
      const fields: Readonly<Record<string, string>> = { ...details };
      const [, sentence = ''] = actionSentences[type] ?? [];
      return namesInSentence(sentence)
        .filter((path) => {
          const [name = '', inner] = path.split('.');
          const shape = fields[name]?.match(/^\w+/)?.[0] ?? '';
          return inner === undefined
            ? !(name in fields)
            : !(inner in ((detailShapes as Readonly<Record<string, object>>)[shape] ?? {}));
        })
        .map((path) => `${type}: ${path}`);
    });
    expect(wrong).toEqual([]);
  });

  it('have pieces with kinds and exact amounts', () => {
    const details = { asset: master, sender: alice, receiver: bob, amount: '12345678901234567890', comment: 'hi' };
    expect(wordsOfAction({ type: 'jetton_transfer', details })).toEqual({
      title: 'Jetton transfer',
      sentence: [
        { kind: 'account', address: alice },
        { kind: 'text', text: ' sends ' },
        { kind: 'token', asset: master, units: '12345678901234567890' },
        { kind: 'text', text: ' to ' },
        { kind: 'account', address: bob },
        { kind: 'text', text: ': ' },
        { kind: 'note', text: 'hi', isEncrypted: false },
      ] satisfies Piece[],
    });
  });

  it('leave out absent parts, and take null assets as TON', () => {
    const swap = {
      dex: null,
      sender: alice,
      asset_in: null,
      asset_out: master,
      dex_incoming_transfer: { amount: '5' },
      dex_outgoing_transfer: { amount: '7' },
    };
    const { sentence } = wordsOfAction({ type: 'jetton_swap', details: swap });
    expect(sentence.slice(2)).toEqual([
      { kind: 'ton', units: '5' },
      { kind: 'text', text: ' for ' },
      { kind: 'token', asset: master, units: '7' },
    ]);
  });

  it('name the outside of the chain for a missing account', () => {
    const { sentence } = wordsOfAction({
      type: 'call_contract',
      details: { source: null, destination: bob, value: null },
    });
    expect(sentence).toEqual([
      { kind: 'account', address: null },
      { kind: 'text', text: ' calls ' },
      { kind: 'account', address: bob },
    ]);
  });

  it('take no amount from a text that is no integer', () => {
    const details = { source: alice, destination: bob, value: '<b>', comment: { toString: 1 } };
    expect(wordsOfAction({ type: 'ton_transfer', details }).sentence).toContainEqual({
      kind: 'text',
      text: ' sends ? to ',
    });
  });

  it('fall back to the name of an unknown type', () => {
    expect(wordsOfAction({ type: 'some_new_type', details: {} })).toEqual({ title: 'Some new type', sentence: [] });
    expect(wordsOfAction({ type: 'constructor', details: {} })).toEqual({ title: 'Constructor', sentence: [] });
  });
});
