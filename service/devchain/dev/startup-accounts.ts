import { toNano } from '@ton/core';

import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { Chain, ChainBlock } from '../chain/chain.ts';
import type { Deployed } from '../demo/wallets.ts';
import { walletOf } from '../demo/wallets.ts';
import { createFaucet } from '../production/faucet.ts';
import type { PrivateNetwork } from '../private-network.ts';
import { accountAt } from '../chain/snapshots.ts';
import { STARTUP_KEYS } from './startup-keys.ts';
import type { GenesisAccount } from '../zerostate/zerostate.ts';

/** An account that has money from the start. */
export type StartupAccount = {
  readonly name: string;
  /** The key is public. */
  readonly isPublic?: true;
  /** Words of the key; absent for an account given by address. */
  readonly mnemonic?: string;
  /** Nanotons that each of the addresses gets. */
  readonly balance: bigint;
  readonly addresses: readonly StartupAddress[];
};

/** An address and the contract that belongs there. */
export type StartupAddress = {
  /** `v5r1`, `v4r2`, or `v5r1 of mainnet`; absent for an account given by address. */
  readonly version?: string;
  readonly place: { readonly workchain: number; readonly id: Buffer };
  readonly init?: Deployed['init'];
};

/** Nanotons of each startup wallet. */
const STARTUP_BALANCE = toNano('10000');

/** Default global id of clients in the address of a wallet v5. */
const MAINNET_GLOBAL_ID = -239;

/**
 * Returns the wallets of a key in a network. The address of a v5 depends on a global id. Clients that use mainnet's id by default find a
 * funded wallet too.
 * @param globalId the network's id, signed
 */
export function walletsOfKey(publicKey: Buffer, globalId: number): readonly StartupAddress[] {
  const wallet = (version: 'v5r1' | 'v4r2', id: number): Omit<StartupAddress, 'version'> => {
    const { address, init } = walletOf(version, id, publicKey);
    return { place: { workchain: address.workChain, id: address.hash }, init };
  };
  return [
    { version: 'v5r1', ...wallet('v5r1', globalId) },
    { version: 'v4r2', ...wallet('v4r2', globalId) },
    ...(globalId === MAINNET_GLOBAL_ID ? [] : [{ version: 'v5r1 of mainnet', ...wallet('v5r1', MAINNET_GLOBAL_ID) }]),
  ];
}

/** The ten startup wallets: the same in every network of a global id. */
export function startupAccounts(globalId: number): StartupAccount[] {
  return STARTUP_KEYS.map(({ mnemonic, publicKey }, index) => ({
    name: `wallet ${index + 1}`,
    isPublic: true,
    mnemonic,
    balance: STARTUP_BALANCE,
    addresses: walletsOfKey(Buffer.from(publicKey, 'hex'), globalId),
  }));
}

/** The same as accounts of a new network, deployed: without a block and without a transaction. */
export function genesisAccounts(accounts: readonly StartupAccount[]): GenesisAccount[] {
  return accounts.flatMap(({ addresses, balance }) =>
    addresses.flatMap(({ place, init }) => {
      if (!init?.code || !init.data) return [];
      const store = createCellStore();
      const [code, data] = [init.code, init.data].map((cell) => {
        const boc = parseBoc(cell.toBoc());
        return store.import(boc, boc.roots[0]!);
      });
      return [{ id: place.id, balance, store, code: code!, data: data! }];
    }),
  );
}

/** Most waiting transfers; the faucet allows 240. */
const FUNDED_AT_ONCE = 200;

/**
 * Sends each missing account its balance from the faucet's wallet, and makes the needed blocks.
 * @throws DevchainError of the faucet, or of the forked network
 */
export async function fundMissing(network: PrivateNetwork, accounts: readonly StartupAccount[]): Promise<void> {
  const faucet = createFaucet(network.faucet, { ...network, now: Date.now });
  const all = accounts.flatMap(({ addresses, balance }) => addresses.map(({ place }) => ({ place, balance })));
  for (const { place } of all) await network.ensure(place);
  const missing = all.filter(({ place }) => accountAt(network.chain, network.head(), place) === undefined);
  for (let first = 0; first < missing.length; first += FUNDED_AT_ONCE) {
    const funded = missing
      .slice(first, first + FUNDED_AT_ONCE)
      .map(({ place, balance }) => faucet.fund(place, balance));
    while (network.waiting > 0) await network.step();
    await Promise.all(funded);
  }
}

/** Global id that the network's states carry. */
export function globalIdOf(network: { readonly chain: Chain; head(): ChainBlock }): number {
  return readShardState(network.chain.states, network.head().state).globalId;
}
