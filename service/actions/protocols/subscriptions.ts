import { body, coins, uint64 } from '../engine/body.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, call, followedBy, maybe } from '../engine/pattern.ts';
import { innerCall } from '../operations/jettons.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Plugins of wallets that take payments: subscriptions.

const requestBody = body({ queryId: uint64, grams: coins });

const subscribe: Matcher<Type> = {
  pattern: after(maybe(as('request', call(0x706c7567))), followedBy(call(0xf06c7567), as('payment', call(0x73756273)))),
  build(root, found) {
    const { message, source, destination } = innerCall(root);
    const request = found.one('request');
    const amount = request === undefined ? message.value : requestBody(innerCall(request).message).grams;
    return {
      type: 'subscribe',
      columns: {
        source,
        destination: innerCall(found.one('payment')!).destination,
        destinationSecondary: destination,
        amount,
      },
      failed: request?.failed ?? false,
    };
  },
};

const destructOpcode = 0x64737472;

const unsubscribe: Matcher<Type> = {
  pattern: followedBy(call(destructOpcode), maybe(as('answer', call(destructOpcode)))),
  build(root, found) {
    const { source, destination } = innerCall(root);
    const answer = found.one('answer');
    return {
      type: 'unsubscribe',
      columns: {
        source,
        destination: answer === undefined ? null : innerCall(answer).destination,
        destinationSecondary: destination,
      },
    };
  },
};

/** Types of subscriptions. */
const types = {
  subscribe: {
    words: ['Subscription payment', '{@subscriber} pays {$amount} for {@subscription}[ to {@beneficiary}]'],
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: {
      subscriber: 'address source',
      beneficiary: 'address? destination',
      subscription: 'address destinationSecondary',
      amount: 'amount amount',
    },
  },
  unsubscribe: {
    words: ['Subscription ended', '{@subscriber} ends {@subscription}[ of {@beneficiary}]'],
    since: 'v1',
    groups: [],
    isIndivisible: true,
    details: {
      subscriber: 'address source',
      beneficiary: 'address? destination',
      subscription: 'address destinationSecondary',
      amount: 'amount? amount',
    },
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of subscriptions. */
export const subscriptions = { types, matchers: { subscribe, unsubscribe } } satisfies Family;
