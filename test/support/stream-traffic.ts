import { setTimeout as sleep } from 'node:timers/promises';

import { Address, internal, type MessageRelaxed } from '@ton/core';

import { nftTransferBody } from '#service/devchain/demo/tokens.ts';
import { readExternalMessage } from '#service/live/send/external-message.ts';
import { oneOf, type Draw } from './draw.ts';
import { jettonOrder } from './jetton-order.ts';
import type { StreamScene } from './stream-scene.ts';
import {
  bounceless,
  firstOwnerOf,
  SALE_PRICE,
  type TrafficOwner,
  type TrafficSale,
  type TrafficWorld,
} from './traffic-world.ts';
import { transfer } from './wallet.ts';

/** Kinds of traffic: `refused` fails on the chain, `clash` and `late` are sent and never in a block. */
export const trafficKinds = [
  'endless',
  'relay',
  'sale',
  'item',
  'jettons',
  'refused',
  'clash',
  'late',
  'payment',
] as const;

export type TrafficKind = (typeof trafficKinds)[number];

/** Draws messages of all kinds and sends them. */
export type StreamTraffic = {
  /** Sends messages that make about so many transactions, for the next block. */
  readonly send: (transactions: number) => Promise<void>;
  /** Keys of the newest traces in base64, the newest last. */
  readonly keys: readonly string[];
  /** Keys of traces that go on at the end. */
  readonly endless: ReadonlySet<string>;
  /** Number of traces of each kind. */
  readonly counts: ReadonlyMap<TrafficKind, number>;
};

/** Blocks in which the messages of a trace come to their ends, apart from relays. */
const TRACE_BLOCKS = 10;

/** Keys that are remembered. */
const KEYS_MAX = 200;

/** Blocks between two messages that are late: each moves the clock. */
const LATE_BLOCKS = 8;

/** Seconds by which the next block comes too late for a message: clocks of validators differ. */
const LATE_SECONDS = 60;

/** Milliseconds in which the service simulates a message. */
const SHOWN_MS = 500;

const TON = 1_000_000_000n;

/** Kinds by their shares. */
const shares: readonly TrafficKind[] = [
  ...Array.from({ length: 8 }, () => 'jettons' as const),
  ...Array.from({ length: 7 }, () => 'payment' as const),
  ...Array.from({ length: 3 }, () => 'sale' as const),
  ...Array.from({ length: 2 }, () => 'item' as const),
  'refused',
  'clash',
  'late',
  'relay',
];

type Sender = TrafficOwner & {
  readonly at: number;
  seqno: number;
  /** Messages without an outcome. A sender has another message in a block only when it has none. */
  waiting: number;
};

type Held = { owner: number; from: number };

/**
 * Draws traffic between the contracts of a world. Each kind comes once before kinds come by their shares.
 * A third of the messages goes through the API, so that they are pending at first.
 */
export function createStreamTraffic(
  world: TrafficWorld,
  { network, api }: Pick<StreamScene, 'network' | 'api'>,
  draw: Draw,
): StreamTraffic {
  const senders = world.owners.map((owner, at): Sender => ({ ...owner, at, seqno: 0, waiting: 0 }));
  /** The first owner sends nothing but late messages. */
  const [tardy, ...movers] = senders as [Sender, ...Sender[]];
  const byId = new Map(senders.map((one) => [one.wallet.id.toString('hex'), one]));
  network.onOutcome(({ destination }, { kind }) => {
    const sender = byId.get(destination.id.toString('hex'));
    if (sender === undefined) return;
    sender.waiting--;
    if (kind === 'included') sender.seqno++;
  });
  const keys: string[] = [];
  const endless = new Set<string>();
  const counts = new Map<TrafficKind, number>();
  const items = world.items.map((_, at): Held => ({ owner: firstOwnerOf(world, at), from: 0 }));
  const sales = world.sales.map(() => ({ round: 0, isSold: false, from: 0 }));
  const first = [...trafficKinds];
  let [relays, lateFrom] = [0, 0];
  const height = (): number => network.head().id.seqno;

  async function post(boc: Buffer, isThroughApi = draw(3) === 0): Promise<void> {
    keys.push(readExternalMessage(boc).normalizedHash.toString('base64'));
    if (keys.length > KEYS_MAX) keys.shift();
    if (!isThroughApi) return network.send(boc);
    const { status } = await api.post('sendBoc', { boc: boc.toString('base64') });
    if (status !== 200) throw new Error(`sendBoc: ${status}`);
  }

  function send(sender: Sender, messages: readonly MessageRelaxed[]): Promise<void> {
    sender.waiting++;
    return post(sender.wallet.send(sender.seqno, messages));
  }

  /** Returns a sender without a waiting message; undefined if a few draws find none. */
  function idle(): Sender | undefined {
    for (let tries = 0; tries < 8; tries++) {
      const one = oneOf(draw, movers);
      if (one.waiting === 0) return one;
    }
    return undefined;
  }

  const anybody = (): Address => (draw(4) === 0 ? oneOf(draw, world.strangers) : oneOf(draw, movers).wallet.address);
  const payments = (): MessageRelaxed[] =>
    Array.from({ length: 1 + draw(4) }, () => transfer(anybody(), TON / 100n, false, draw(2) === 0 ? 'hi' : undefined));

  /** Sells an item, or brings it back to its sale. @returns undefined while the last message is on its way */
  function trade(sale: TrafficSale, at: number): [Sender, MessageRelaxed] | undefined {
    const state = sales[at]!;
    const buyer = senders[sale.buyers[state.round] ?? -1];
    if (buyer === undefined || buyer.waiting > 0 || state.from > height()) return undefined;
    state.from = height() + TRACE_BLOCKS;
    state.isSold = !state.isSold;
    if (state.isSold) return [buyer, transfer(sale.address, SALE_PRICE, true)];
    state.round++;
    return [buyer, give(sale.item, sale.address, buyer, 0n)];
  }

  /** Work of each kind for an idle sender. @returns number of transactions, 0 if there is nothing to do now */
  const kinds: Record<TrafficKind, (from: Sender) => [number, Promise<void>] | undefined> = {
    endless(from) {
      const sent = send(from, [bounceless(world.endless[0])]);
      endless.add(keys.at(-1)!);
      return [2, sent];
    },
    relay(from) {
      const to = world.relays[relays];
      if (to === undefined) return undefined;
      relays++;
      return [40, send(from, [bounceless(to)])];
    },
    sale() {
      const at = draw(world.sales.length);
      const found = trade(world.sales[at]!, at);
      return found && [5, send(found[0], [found[1]])];
    },
    item() {
      const at = draw(world.items.length);
      const state = items[at]!;
      const owner = senders[state.owner]!;
      if (state.from > height() || owner.waiting > 0) return undefined;
      const to = oneOf(draw, movers);
      items[at] = { owner: to.at, from: height() + TRACE_BLOCKS };
      return [4, send(owner, [give(world.items[at]!, to.wallet.address, owner, 1n)])];
    },
    jettons(from) {
      const to = oneOf(draw, movers).wallet.address;
      const order = { to, amount: BigInt(1 + draw(1000)), back: from.wallet.address, forward: BigInt(draw(2)) };
      return [5, send(from, [jettonOrder(from.jettons, order)])];
    },
    refused(from) {
      const other = movers[from.at % movers.length]!;
      const order = { to: from.wallet.address, amount: 1n, back: from.wallet.address };
      return [3, send(from, [jettonOrder(other.jettons, order)])];
    },
    clash(from) {
      // A block takes the first of two messages with one number.
      from.waiting += 2;
      const bocs = [0, 1].map(() => from.wallet.send(from.seqno, payments()));
      const both = async (): Promise<void> => {
        for (const boc of bocs) await post(boc, true);
      };
      return [3, both()];
    },
    late() {
      if (lateFrom > height() || tardy.waiting > 0) return undefined;
      lateFrom = height() + LATE_BLOCKS;
      const until = network.utime() + 5;
      tardy.waiting++;
      // No block changes its accounts. So it is not refused before it is late.
      const message = transfer(strangerOf(height()), TON / 100n);
      const boc = tardy.wallet.send(tardy.seqno, [message], { until });
      return [
        1,
        post(boc, true)
          .then(() => sleep(SHOWN_MS))
          .then(() => network.setNextUtime(until + LATE_SECONDS)),
      ];
    },
    payment(from) {
      const messages = payments();
      return [1 + messages.length, send(from, messages)];
    },
  };

  return {
    keys,
    endless,
    counts,
    async send(transactions) {
      const sent: Promise<void>[] = [];
      for (let left = transactions; left > 0;) {
        const from = idle();
        if (from === undefined) break;
        const kind = first.at(0) ?? oneOf(draw, shares);
        const done = kinds[kind](from);
        if (first.length > 0) first.shift();
        left -= done?.[0] ?? 1;
        if (done === undefined) continue;
        sent.push(done[1]);
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      await Promise.all(sent);
    },
  };
}

function give(item: Address, to: Address, { wallet }: Sender, forward: bigint): MessageRelaxed {
  return internal({ to: item, value: TON / 10n, body: nftTransferBody(to, wallet.address, forward) });
}

/** An account that gets nothing else. */
const strangerOf = (number: number): Address =>
  new Address(0, Buffer.from(number.toString(16).padStart(64, '0'), 'hex'));
