import { createHash } from 'node:crypto';

import {
  Address,
  beginCell,
  type Cell,
  contractAddress,
  external,
  internal,
  SendMode,
  storeMessage,
  type MessageRelaxed,
} from '@ton/core';

import { commentBody, jettonBurnBody, nftTransferBody } from '#service/devchain/demo/tokens.ts';
import { wallets as walletVersions } from '#test/service/emulate/ton-connect/wallets-under-test.ts';
import { oneOf, type Draw } from './draw.ts';
import { open } from './event-traces.ts';
import type { ForkedNetwork } from './forked-network.ts';
import { jettonOrder } from './jetton-order.ts';
import { orderOf, sendStep } from './multisig-orders.ts';
import { transfer } from './wallet.ts';

/** A wallet of any version. */
export type JourneyWallet = {
  readonly address: Address;
  /** Code and data, when the wallet is to be put into the network. */
  readonly init?: { readonly code: Cell; readonly data: Cell };
  /** Messages that the wallet sends at once. Default: 4. */
  readonly messagesMax?: number;
  /** Bits of the data before the seqno. Default: 0. */
  readonly seqnoAt?: number;
  send(seqno: number, messages: readonly MessageRelaxed[]): Buffer;
};

/** Messages that a wallet sends with one message from outside. */
export type Journey = {
  readonly wallet: JourneyWallet;
  readonly messages: readonly MessageRelaxed[];
  /** Added to the wallet's seqno: the wallet refuses the message. */
  readonly seqnoAhead?: number;
  /** True when a contract stores the time of its transaction. */
  readonly hasTimes?: boolean;
};

export type JourneyScene = Pick<ForkedNetwork, 'address' | 'wallet'> & {
  /** Wallets by version. */
  readonly versions: Readonly<Record<string, JourneyWallet>>;
  /** Current owner of an NFT item. */
  readonly ownerOf: (item: Address) => Promise<Address>;
  /** Seqno of the multisig's next order. */
  readonly nextOrder: () => Promise<bigint>;
};

type Make = (draw: Draw, scene: JourneyScene) => Journey | Promise<Journey>;

const TON = 1_000_000_000n;
const NEVER = 0xffff_ffff;
const ORDERS_EXPIRE = 2_000_000_000;

/** Names of wallets of the recording with jettons. */
const jettonOwners = ['w3', 'w4', 'w6', 'w7', 'w8', 'w0'] as const;
const wallets = ['w0', 'w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8', 'w10', 'w11'] as const;
const signers = ['w1', 'w4', 'w8'] as const;

function amountOf(draw: Draw): bigint {
  return BigInt(1 + draw(2_000_000_000));
}

/** An account of the scene, or an account that the network lacks. */
function anyone(draw: Draw, { wallet }: JourneyScene): Address {
  if (draw(3) > 0) return wallet(oneOf(draw, wallets)).address;
  return new Address(
    0,
    createHash('sha256')
      .update(String(draw(1000)))
      .digest(),
  );
}

/** A wallet of one of these versions. */
function walletOf(draw: Draw, { versions }: JourneyScene, among: RegExp): JourneyWallet {
  const names = Object.keys(versions).filter((name) => among.test(name));
  return versions[oneOf(draw, names)]!;
}

/** Transfers to as many accounts as a wallet sends to at once, up to a bound. */
function transfersOf(draw: Draw, scene: JourneyScene, wallet: JourneyWallet, most = 20): Journey {
  return { wallet, messages: plainTransfers(draw, scene, Math.min(most, wallet.messagesMax ?? 4)) };
}

function plainTransfers(draw: Draw, scene: JourneyScene, most: number): MessageRelaxed[] {
  return Array.from({ length: 1 + draw(most) }, () => transfer(anyone(draw, scene), amountOf(draw)));
}

/** The wallet in hand at an address. */
function walletAt(scene: JourneyScene, address: Address): JourneyWallet {
  const name = wallets.find((one) => scene.wallet(one).address.equals(address));
  if (name === undefined) throw new Error(`no wallet at ${address.toRawString()}`);
  return scene.wallet(name);
}

/** Each kind of journey by what it does. */
export const journeys: Readonly<Record<string, Make>> = {
  'a transfer of a wallet v1': (draw, scene) => transfersOf(draw, scene, walletOf(draw, scene, /^v1/)),

  'transfers of a wallet v2': (draw, scene) => transfersOf(draw, scene, walletOf(draw, scene, /^v2/)),

  'transfers of a wallet v3': (draw, scene) => transfersOf(draw, scene, walletOf(draw, scene, /^v3/)),

  'transfers of a wallet v4': (draw, scene) => {
    const own = draw(2) === 0 ? walletOf(draw, scene, /^v4/) : scene.wallet(oneOf(draw, wallets));
    return transfersOf(draw, scene, own);
  },

  'transfers of a wallet v5r1': (draw, scene) => transfersOf(draw, scene, walletOf(draw, scene, /^v5/)),

  '255 messages of a wallet v5r1': (draw, { versions, wallet }) => ({
    wallet: versions['v5r1']!,
    messages: Array.from({ length: 255 }, () => transfer(wallet(oneOf(draw, wallets)).address, amountOf(draw) / 100n)),
  }),

  'a transfer of jettons': (draw, scene) => {
    const name = oneOf(draw, jettonOwners);
    const { address } = scene.wallet(name);
    const order = {
      to: anyone(draw, scene),
      amount: amountOf(draw),
      back: address,
      forward: draw(2) === 0 ? 0n : 10_000_000n,
    };
    return {
      wallet: scene.wallet(name),
      messages: [jettonOrder(scene.address(`jetton_wallet_${name}`), order)],
    };
  },

  'a burn of jettons': (draw, { wallet, address }) => {
    const name = oneOf(draw, jettonOwners);
    const body = jettonBurnBody(amountOf(draw), wallet(name).address);
    const to = address(`jetton_wallet_${name}`);
    return { wallet: wallet(name), messages: [internal({ to, value: TON / 5n, body })] };
  },

  'a transfer of an NFT': async (draw, scene) => {
    const item = scene.address(oneOf(draw, ['nft_0', 'nft_1', 'nft_2']));
    const owner = walletAt(scene, await scene.ownerOf(item));
    const to = scene.wallet(oneOf(draw, wallets)).address;
    const body = nftTransferBody(to, owner.address, draw(2) === 0 ? 0n : 10_000_000n);
    return { wallet: owner, messages: [internal({ to: item, value: TON / 5n, body })] };
  },

  'a change of a DNS record': async (draw, scene) => {
    const item = scene.address('dns_item');
    const owner = walletAt(scene, await scene.ownerOf(item));
    const to = scene.wallet(oneOf(draw, wallets)).address;
    const record = beginCell().storeUint(0x9fd3, 16).storeAddress(to).storeUint(0, 8).endCell();
    const key = createHash('sha256').update('wallet').digest();
    const change = open(0x4eb1f0f9).storeBuffer(key);
    const body = (draw(4) === 0 ? change : change.storeRef(record)).endCell();
    return { wallet: owner, messages: [internal({ to: item, value: TON / 5n, body })], hasTimes: true };
  },

  'an order of a multisig': async (draw, scene) => {
    const at = draw(signers.length);
    const steps = [sendStep({ to: anyone(draw, scene), value: amountOf(draw) })];
    const body = open(0xf718510f)
      .storeUint(await scene.nextOrder(), 256)
      .storeBit(true)
      .storeUint(at, 8)
      .storeUint(ORDERS_EXPIRE, 48)
      .storeRef(orderOf(steps))
      .endCell();
    const message = internal({ to: scene.address('multisig'), value: TON, body });
    return { wallet: scene.wallet(signers[at]!), messages: [message] };
  },

  'a message that comes back': (draw, scene) => {
    const to = draw(2) === 0 ? scene.address('nowhere') : scene.address('nft_collection');
    const body = commentBody(`message ${draw(1000)}`);
    return {
      wallet: walletOf(draw, scene, /^v/),
      messages: [internal({ to, value: amountOf(draw) + TON / 10n, bounce: true, body })],
    };
  },

  'jettons that the sender lacks': (draw, scene) => {
    const [from, to] = [oneOf(draw, jettonOwners), anyone(draw, scene)];
    const order = { to, amount: 2n ** 100n, back: scene.wallet(from).address };
    return { wallet: scene.wallet(from), messages: [jettonOrder(scene.address(`jetton_wallet_${from}`), order)] };
  },

  'money that the wallet lacks': (draw, scene) => ({
    wallet: walletOf(draw, scene, /^v/),
    messages: [transfer(anyone(draw, scene), 10n ** 18n)],
  }),

  'a message that the wallet refuses': (draw, scene) => ({
    ...transfersOf(draw, scene, walletOf(draw, scene, /^v/), 2),
    seqnoAhead: 1 + draw(5),
  }),
};

/** Wallets by version, from v1r1 to v5r1. */
export const versions: JourneyScene['versions'] = Object.fromEntries(
  walletVersions.map((wallet) => {
    const { name, code, data, messagesMax, seqnoAt } = wallet;
    const init = { code, data };
    const address = contractAddress(0, init);
    const send: JourneyWallet['send'] = (seqno, messages) => {
      const body = wallet.sign({
        sendMode: SendMode.PAY_GAS_SEPARATELY,
        timeout: NEVER,
        seqno,
        messages: [...messages],
      });
      return beginCell()
        .store(storeMessage(external({ to: address, body })))
        .endCell()
        .toBoc();
    };
    return [name, { address, init, messagesMax, seqnoAt, send }];
  }),
);
