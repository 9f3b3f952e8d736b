import { body, coins, uint64 } from '../engine/body.ts';
import type { Matcher } from '../engine/matcher.ts';
import { after, as, call, followedBy, maybe } from '../engine/pattern.ts';
import { innerCall } from '../operations/jettons.ts';

// Plugins of wallets that take payments: subscriptions.

const requestBody = body({ queryId: uint64, grams: coins });

const subscribe: Matcher = {
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
      failed: root.failed || found.one('payment')!.failed,
    };
  },
};

const destructOpcode = 0x64737472;

const unsubscribe: Matcher = {
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
      failed: root.failed,
    };
  },
};

/** Matchers by position in the order of all matchers (service/actions/README.md#matchers). */
export const subscriptionMatchers: Readonly<Record<number, Matcher>> = { 36: subscribe, 37: unsubscribe };
