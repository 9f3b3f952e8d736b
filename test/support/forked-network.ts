import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Address, Cell } from '@ton/core';

import { parseAddress } from '#service/decode/address.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { lookupHashmap } from '#service/decode/hashmap.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import type { AccountEdit } from '#service/devchain/collator/state-edits.ts';
import { openMasterchainState } from '#service/devchain/collator/masterchain-state.ts';
import type { AccountPlace } from '#service/devchain/collator/missing-account.ts';
import type { ForkSource } from '#service/devchain/fork/fork.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { accountAt } from '#service/devchain/chain/snapshots.ts';
import { NO_TRANSACTION, writeShardAccount } from '#service/tvm/shard-account.ts';
import { startPrivateNetwork } from './private-network.ts';
import { putAccount } from './put-account.ts';
import { testWalletAt, type TestWallet } from './wallet.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

/** The project's own recording: its accounts have names. */
const recordingDir = join(import.meta.dirname, '../vectors/realnet');

type Known = Readonly<Record<string, { readonly address: string; readonly what: string }>>;

const known = JSON.parse(readFileSync(join(recordingDir, 'accounts.json'), 'utf8')) as Known;

/** A private network that goes on from the recorded one, with its contracts, and with its wallets in the test's hands. */
export type ForkedNetwork = {
  readonly network: PrivateNetwork;
  /** Address of an account by its name in the recording. */
  address(name: string): Address;
  /** A wallet by its name in the recording: now a v4r2 of the test's, at the same address. */
  wallet(name: string): TestWallet;
  /** Code and data that an account of the recording had. */
  contract(name: string): { readonly code: Cell; readonly data: Cell };
};

/** The network has its own. */
const ownSpecials: ReadonlySet<string> = new Set(['config', 'elector', 'main']);

/** Starts one, in whose newest block the recorded accounts are. Its caller closes the network. */
export async function startForkedNetwork(): Promise<ForkedNetwork> {
  const chain = await recordedChain(recordingDir);
  const network = await startPrivateNetwork(
    { genesisUtime: chain.masterchain(chain.lastSeqno)!.header.utime },
    forkOf(chain),
  );
  const wallets = new Map<string, TestWallet>();
  const edits = Object.entries(known).flatMap(([name, { address, what }]) => {
    const place = parseAddress(address)!;
    if (ownSpecials.has(name)) return [];
    if (!what.startsWith('wallet')) return broughtOver(chain, place) ?? [];
    const wallet = testWalletAt(Address.parse(address), Buffer.alloc(32, name));
    wallets.set(name, wallet);
    return putAccount(place, wallet.init);
  });
  await network.step(edits);
  return {
    network,
    address: (name) => Address.parse(known[name]!.address),
    wallet: (name) => wallets.get(name)!,
    contract: (name) => contractOf(chain, parseAddress(known[name]!.address)!),
  };
}

function contractOf(chain: Chain, place: AccountPlace): { readonly code: Cell; readonly data: Cell } {
  const { states } = chain;
  const { account } = accountAt(chain, chain.masterchain(chain.lastSeqno)!, place)!;
  const state = readAccount(states, account)?.state;
  if (state?.kind !== 'active') throw new Error('the account is no contract');
  const cellOf = (cell: number | undefined): Cell => Cell.fromBoc(writeBoc(states, [cell!]))[0]!;
  return { code: cellOf(state.init.code), data: cellOf(state.init.data) };
}

/** The recorded network as of its last block. */
export function forkOf(chain: Chain): ForkSource {
  const top = chain.masterchain(chain.lastSeqno)!;
  const { custom } = readShardState(chain.states, top.state);
  const { config } = readMasterchainStateExtra(chain.states, custom!);
  return {
    zeroState: chain.zeroStates[0]!.id,
    block: top.id,
    readBeginning: () =>
      Promise.resolve({
        utime: top.header.utime,
        endLt: top.header.endLt,
        config: writeBoc(chain.states, [config.root]),
      }),
    readAccount: (place) => Promise.resolve(shardAccountOf(chain, place)),
    readLibrary: (hash) => Promise.resolve(libraryOf(chain, hash)),
  };
}

function shardAccountOf(chain: Chain, place: AccountPlace): Buffer {
  const found = accountAt(chain, chain.masterchain(chain.lastSeqno)!, place);
  if (found === undefined) return writeShardAccount(undefined, NO_TRANSACTION);
  const { account, lastTransactionHash: hash, lastTransactionLt: lt } = found;
  return writeShardAccount({ table: chain.states, cell: account }, { hash, lt });
}

function libraryOf(chain: Chain, hash: Buffer): Buffer | undefined {
  const { states } = chain;
  const { libraries } = openMasterchainState(states, chain.masterchain(chain.lastSeqno)!.state);
  const entry = lookupHashmap(states, libraries, 256, hash);
  entry?.skip(2);
  return entry && writeBoc(states, [entry.ref()]);
}

function broughtOver(chain: Chain, place: AccountPlace): AccountEdit | undefined {
  const found = accountAt(chain, chain.masterchain(chain.lastSeqno)!, place);
  return found && { ...place, last: found, edit: (states) => states.import(chain.states, found.account) };
}
