import { createHash } from 'node:crypto';

import { Address } from '@ton/core';

import { crc16 } from '#service/decode/address.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { readMessageAddress } from '#service/decode/tlb/message-address.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { decodeStack } from '#service/tvm/stack-reader.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { cellOfSlice } from '#service/tvm/stack.ts';
import { openMasterchainState } from '../collator/masterchain-state.ts';
import { MINT_OPERATION, mintBody } from '../demo/tokens.ts';
import { badArgument } from '../chain/errors.ts';
import type { FundedAccount } from '../production/faucet.ts';
import type { MethodRunner } from '../queries/method-runner.ts';
import type { PrivateNetwork } from '../private-network.ts';
import { previousBlocksInfo } from '../chain/previous-blocks-info.ts';
import { accountAt } from '../chain/snapshots.ts';
import { sendAs } from './send-as.ts';

/** `mint` of the stablecoin contract (jetton 2.0). The rest of its body is as in the standard minter. */
const STABLECOIN_MINT_OPERATION = 0x642b_7d07;

/** Nanotons for the minter, the new wallet and the way. */
const MINT_VALUE = 200_000_000n;

export type MintOrder = { readonly jetton: FundedAccount; readonly owner: FundedAccount; readonly amount: bigint };

/**
 * Sends the minter a mint message of its admin. It tries the form of the standard minter, then the form of the stablecoin contract, until
 * the supply grows.
 * @param settle lets messages in transit arrive
 * @throws DevchainError `bad_argument` for an account that is no minter, has no admin, or takes neither form
 */
export async function mintJetton(
  { jetton, owner, amount }: MintOrder,
  { network, runner, settle }: { network: PrivateNetwork; runner: MethodRunner; settle: () => Promise<void> },
): Promise<{ readonly messageHash: Buffer; readonly supply: bigint }> {
  await network.ensure(jetton);
  const { supply, admin } = await readMinter(network, runner, jetton);
  if (admin === undefined) throw badArgument('jetton', 'expected a minter with an admin');
  const [minter, receiver] = [jetton, owner].map(({ workchain, id }) => new Address(workchain, id));
  for (const operation of [MINT_OPERATION, STABLECOIN_MINT_OPERATION]) {
    const body = parseBoc(mintBody(minter!, receiver!, amount, operation).toBoc());
    const order = { from: admin, to: jetton, nanotons: MINT_VALUE, body, bounce: true };
    const { messageHash } = await sendAs(network, order);
    await settle();
    const after = await readMinter(network, runner, jetton);
    if (after.supply === supply + amount) return { messageHash, supply: after.supply };
  }
  throw badArgument('jetton', 'expected a minter of the standard or of the stablecoin contract');
}

type Minter = { readonly supply: bigint; readonly admin: FundedAccount | undefined };

/** Runs `get_jetton_data` on the newest state. */
async function readMinter(network: PrivateNetwork, runner: MethodRunner, place: FundedAccount): Promise<Minter> {
  const stack = await runGetter(network, runner, place, 'get_jetton_data');
  const [supply, , admin] = stack ?? [];
  if (supply?.type !== 'int' || admin === undefined) throw badArgument('jetton', 'expected a jetton minter');
  return { supply: supply.value, admin: addressIn(admin) };
}

async function runGetter(
  network: PrivateNetwork,
  runner: MethodRunner,
  { workchain, id }: FundedAccount,
  name: string,
): Promise<StackEntry[] | undefined> {
  const { chain } = network;
  const top = network.head();
  const found = accountAt(chain, top, { workchain, id });
  const account = found && readAccount(chain.states, found.account);
  if (account?.state.kind !== 'active' || account.state.init.code === undefined) return undefined;
  const { config, libraries } = openMasterchainState(chain.states, top.state);
  await runner.ready();
  const { exitCode, stack } = runner.run({
    states: chain.states,
    config: config.root,
    libraries,
    code: account.state.init.code,
    data: account.state.init.data,
    workchain,
    id,
    balance: account.balance.grams,
    utime: readShardState(chain.states, top.state).utime,
    randSeed: createHash('sha256').update(top.id.rootHash).digest(),
    methodId: BigInt(crc16(Buffer.from(name)) | 0x1_0000),
    params: Buffer.alloc(0),
    previousBlocks: previousBlocksInfo(chain, top.id.seqno),
  });
  return exitCode === 0 || exitCode === 1 ? decodeStack(stack) : undefined;
}

/** Bits of `addr_std` without anycast. */
const STANDARD_ADDRESS_BITS = 267;

/** `addr_std` without anycast; undefined for any other. */
function addressIn(entry: StackEntry): FundedAccount | undefined {
  if (entry.type !== 'slice') return undefined;
  const { table, cell } = cellOfSlice(entry);
  const slice = new CellSlice(table, cell);
  const address = slice.remainingBits < STANDARD_ADDRESS_BITS ? undefined : readMessageAddress(slice);
  if (address?.kind !== 'internal' || address.variable || address.anycast !== undefined) return undefined;
  return { workchain: address.workchain, id: address.id };
}
