import type { Address, MessageRelaxed } from '@ton/core';
import { internal, toNano } from '@ton/core';

import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { createFaucet } from '../production/faucet.ts';
import type { PrivateNetwork } from '../private-network.ts';
import { accountAt, hasMessagesOnTheWay } from '../chain/snapshots.ts';
import { createNames, editNames, fillUpBody } from './names.ts';
import {
  commentBody,
  jettonBurnBody,
  jettonMinter,
  jettonTransferBody,
  jettonWallet,
  mintBody,
  nftCollection,
  nftItem,
  nftMintBody,
  nftTransferBody,
} from './tokens.ts';
import { multisig, newOrderBody, orderLibrary, vestingWallet } from './multisig-and-vesting.ts';
import { WALLET_CODES } from './wallet-codes.ts';
import type { Deployed, DemoWallet, WalletVersion } from './wallets.ts';
import { createDemoWallet } from './wallets.ts';

/** Demo content of a new network: raw addresses by readable name. */
export type Demo = Readonly<Record<string, string>>;

/** The domain that leads to the wallet v4r2. */
export const DEMO_DOMAIN = 'tonplane';

const VERSIONS = Object.keys(WALLET_CODES) as WalletVersion[];

/** Initial balance of each wallet. The owner of everything else needs most. */
const OWNER_AMOUNT = toNano('1000');
const WALLET_AMOUNT = toNano('100');
const VESTED_AMOUNT = toNano('50');

/** Blocks in which the longest chain of messages, to another workchain and back, comes to its end. */
const STEPS_MAX = 6;

type Network = Pick<PrivateNetwork, 'chain' | 'head' | 'send' | 'step' | 'onOutcome' | 'faucet' | 'waiting'>;

/**
 * Fills a network with wallets of every version, a jetton, a collection of items and a domain. Adds a multisig with a waiting order and a
 * vesting wallet. Makes some twenty blocks at once. A network that has the demo already stays unchanged.
 * @throws DevchainError when the network refuses a message
 */
export async function createDemo(network: Network): Promise<Demo> {
  const { chain, head } = network;
  const { globalId, utime } = readShardState(chain.states, head().state);
  const wallets = new Map(VERSIONS.map((version) => [version, createDemoWallet(version, globalId)]));
  const [owner, friend, third] = (['v4r2', 'v3r2', 'v5r1'] as const).map((version) => wallets.get(version)!);
  // Addresses of vesting wallets depend on their terms. A continued network uses the time of its own beginning.
  const began = readShardState(chain.states, chain.zeroStates[0]!.state).utime;
  const things = planThings(owner!, friend!, { began, utime });
  const demo = addressesOf([...wallets.values()], things);
  const { minter } = things;
  if (accountAt(chain, head(), { workchain: 0, id: minter.address.hash }) !== undefined) return demo;

  const settle = async (): Promise<void> => {
    let steps = 0;
    do await network.step();
    while (++steps < STEPS_MAX && hasMessagesOnTheWay(chain, head()));
  };
  const send = async (from: DemoWallet, ...messages: MessageRelaxed[]): Promise<void> => {
    network.send(from.send(messages));
    await settle();
  };
  await fundWallets(network, [...wallets.values()], owner!);
  await greet(
    network,
    [...wallets.values()].filter((wallet) => wallet !== owner),
  );
  await settle();

  const { collection, vesting, treasury, library, names } = things;
  await send(owner!, deploy(minter, '0.2'), deploy(collection, '0.2'), deploy(treasury, '1'), deploy(library, '20'));
  await send(
    owner!,
    to(minter.address, '0.2', mintBody(minter.address, owner!.address, toNano('1000000'))),
    to(minter.address, '0.2', mintBody(minter.address, friend!.address, toNano('5000'))),
    to(collection.address, '0.2', nftMintBody(0, owner!.address)),
    to(collection.address, '0.2', nftMintBody(1, friend!.address)),
  );
  const [ownJettons, friendJettons] = [owner!, friend!].map(({ address }) => jettonWallet(minter.address, address));
  const orderUntil = utime + ORDER_SECONDS;
  await send(
    owner!,
    to(ownJettons!, '0.2', jettonTransferBody(third!.address, owner!.address, toNano('250'), 'for you')),
    to(nftItem(collection.address, 0), '0.1', nftTransferBody(third!.address, owner!.address)),
    to(treasury.address, '1', newOrderBody(to(third!.address, '0.5', commentBody('from the treasury')), orderUntil)),
    { ...deploy(vesting, '50'), body: commentBody('for ten days of work') },
  );
  await send(owner!, to(ownJettons!, '0.2', jettonBurnBody(toNano('100'), owner!.address)));
  await send(
    friend!,
    to(friendJettons!, '0.2', jettonTransferBody(owner!.address, friend!.address, toNano('7'), 'back')),
  );
  await network.step(editNames(names));
  // Clients that follow blocks find only accounts with a transaction.
  const all = [names.root, names.collection, names.item];
  await send(owner!, ...all.map(({ address }) => to(address, '0.05', fillUpBody())));
  return demo;
}

/** Time for the multisig's signers: a month. */
const ORDER_SECONDS = 30 * 86_400;

type Things = {
  readonly minter: Deployed;
  readonly collection: Deployed;
  readonly treasury: Deployed;
  readonly library: Deployed;
  readonly vesting: Deployed;
  readonly names: ReturnType<typeof createNames>;
};

/** @param times of the network's beginning and of its head, unix seconds */
function planThings(
  owner: DemoWallet,
  friend: DemoWallet,
  { began, utime }: { readonly began: number; readonly utime: number },
): Things {
  const terms = { sender: owner.address, owner: friend.address, startsAt: began, amount: VESTED_AMOUNT };
  return {
    minter: jettonMinter(owner.address),
    collection: nftCollection(owner.address),
    treasury: multisig([owner.address, friend.address]),
    library: orderLibrary(),
    vesting: vestingWallet({ ...terms, publicKey: friend.publicKey }),
    names: createNames(DEMO_DOMAIN, owner.address, utime),
  };
}

/** The faucet pays: four wallets a message. */
async function fundWallets(network: Network, wallets: readonly DemoWallet[], owner: DemoWallet): Promise<void> {
  const faucet = createFaucet(network.faucet, { ...network, now: Date.now });
  const funded = wallets.map((wallet) => {
    const amount = wallet === owner ? OWNER_AMOUNT : WALLET_AMOUNT;
    return faucet.fund({ workchain: 0, id: wallet.address.hash }, amount);
  });
  while (network.waiting > 0) await network.step();
  await Promise.all(funded);
}

/** Each wallet deploys itself and sends a greeting to the next wallet. */
async function greet(network: Network, wallets: readonly DemoWallet[]): Promise<void> {
  wallets.forEach((wallet, index) => {
    const next = wallets[(index + 1) % wallets.length]!;
    network.send(wallet.send([to(next.address, '1', commentBody(`hello from ${wallet.version}`))]));
  });
  await network.step();
}

function to(address: Address, tons: string, body: MessageRelaxed['body']): MessageRelaxed {
  return internal({ to: address, value: toNano(tons), bounce: true, body });
}

function deploy({ address, init }: Deployed, tons: string): MessageRelaxed {
  return internal({ to: address, value: toNano(tons), bounce: false, init });
}

function addressesOf(wallets: readonly DemoWallet[], things: Things): Demo {
  const { minter, collection, treasury, vesting, names } = things;
  const own = Object.fromEntries(wallets.map(({ version, address }) => [`wallet ${version}`, address]));
  const all: Record<string, Address> = {
    ...own,
    'jetton minter': minter.address,
    'jetton wallet': jettonWallet(minter.address, wallets.find(({ version }) => version === 'v4r2')!.address),
    'NFT collection': collection.address,
    'NFT item': nftItem(collection.address, 0),
    multisig: treasury.address,
    'vesting wallet': vesting.address,
    'DNS root': names.root.address,
    [`domain ${DEMO_DOMAIN}.ton`]: names.item.address,
  };
  return Object.fromEntries(Object.entries(all).map(([name, address]) => [name, address.toRawString()]));
}
