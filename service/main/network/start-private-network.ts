import { join } from 'node:path';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { formatFriendlyAddress } from '#service/decode/address.ts';
import { createDemo, type Demo } from '#service/devchain/demo/demo.ts';
import type { ConditionsHolder } from '#service/devchain/dev/conditions.ts';
import { noConditions } from '#service/devchain/dev/conditions.ts';
import { DUMP_BYTES_MAX, writeDump } from '#service/devchain/dev/network-dump.ts';
import { describeDev } from '#service/devchain/dev/openapi.ts';
import { createDevMethods, deliverMessages, loadDump } from '#service/devchain/dev/dev-methods.ts';
import { createDevRpc } from '#service/devchain/dev/dev-rpc.ts';
import { fundInTime } from '#service/devchain/dev/fund.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { FundedAccount } from '#service/devchain/production/faucet.ts';
import { accountAt } from '#service/devchain/chain/snapshots.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import { DEFAULT_GLOBAL_ID } from '#service/devchain/first-states.ts';
import { loadedMetric } from '#service/devchain/network-metrics.ts';
import type { PersistedNetwork } from '#service/devchain/storage/persisted-network.ts';
import { openPersistedNetwork } from '#service/devchain/storage/persisted-network.ts';
import { ownLiteServer } from '#service/devchain/lite-servers.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { createPrivateNetwork } from '#service/devchain/private-network.ts';
import type { StartupAccount } from '#service/devchain/dev/startup-accounts.ts';
import { fundMissing, genesisAccounts, globalIdOf, startupAccounts } from '#service/devchain/dev/startup-accounts.ts';
import { readAccountsFile } from '../configuration/accounts-file.ts';
import type { Arguments } from '../configuration/arguments.ts';
import { readDumpFile, writeDumpFile } from '../commands/dev-command.ts';
import type { DevNetwork } from './dev-network.ts';
import type { OpenFork } from './fork.ts';
import { openFork } from './fork.ts';
import { otherFork } from './fork-origin.ts';
import { shownAccounts } from './start-page.ts';
import { closePart } from '../closing.ts';
import { StartError } from '../errors.ts';

export type PrivateNetworkDependencies = {
  readonly version: string;
  readonly logger: Logger;
  readonly register: Registry;
  readonly output: NodeJS.WritableStream;
};

/** A private network that makes its own blocks, served by a lite server over ADNL on loopback. */
export async function startPrivateNetwork(
  args: Arguments,
  dependencies: PrivateNetworkDependencies,
): Promise<DevNetwork> {
  await using parts = new AsyncDisposableStack();
  const opened = await openNetwork(args, dependencies, parts);
  const { network, stored, forked } = opened;
  const faucet = createFaucet(network.faucet, { ...network, now: Date.now });
  const { globalId, accounts, demo } = await fillNetwork(args, network);
  const { dump } = args;
  if (dump !== undefined) parts.defer(() => dumpAtEnd(network, dump, dependencies.logger));
  const conditions: ConditionsHolder = { current: noConditions };
  const balanceOf: DevNetwork['balanceOf'] = (place) => balanceAt(network, place);
  const rpc = createDevRpc(createDevMethods({ network, faucet, conditions }));
  const running = parts.move();
  return {
    title: titleOf(args, opened),
    notes: [
      'faucet     POST /faucet {"address": ..., "amount": TON} as application/json, or: npm start -- dev fund ADDRESS AMOUNT',
      'dev        npm start -- dev NAME ..., or POST /dev at the internal port; npm start -- dev help lists the methods',
    ],
    sampleAddress: formatFriendlyAddress({ workchain: 0, id: network.faucet.id }),
    globalId,
    liteServer: network.liteServers[0]!,
    accounts,
    demo: demo ?? {},
    stateDir: stored && args.data,
    globalConfig: () => network.globalConfig(),
    ...(stored !== undefined && { hasLost: (block: MasterchainBlock) => hasLost(network.chain, block) }),
    headSeqno: () => network.head().id.seqno,
    ...(forked !== undefined && { accountsBrought: () => network.forkedAccounts }),
    facts: () => ({
      lastSeqno: undefined,
      paceSeconds: 0,
      liteServers: network.liteServers.length,
      aheadSeconds: network.aheadSeconds(),
    }),
    status: () => ({
      devchain: {
        kind: 'private',
        seqno: network.head().id.seqno,
        utime: network.head().header.utime,
        aheadSeconds: network.aheadSeconds(),
        validators: network.validatorKeys.length,
        waitingMessages: network.waiting,
        ...(demo && { demo }),
        ...(forked && { fork: { seqno: forked.source.block.seqno, accounts: network.forkedAccounts } }),
      },
    }),
    posts: new Map([
      [
        '/faucet',
        {
          name: 'faucet',
          run: (body) => fundInTime({ network, faucet }, fieldsOf(body), args.blockTime === 'manual'),
        },
      ],
    ]),
    internalPosts: new Map([['/dev', async (body) => ({ contentType: 'application/json', body: await rpc(body) })]]),
    internalPages: (version) =>
      new Map([
        ['/openapi.json', () => ({ contentType: 'application/json', body: JSON.stringify(describeDev(version)) })],
        [
          '/accounts.json',
          () => ({ contentType: 'application/json', body: JSON.stringify(shownAccounts(accounts, balanceOf)) }),
        ],
      ]),
    aheadSeconds: () => network.aheadSeconds(),
    balanceOf,
    conditions: () => conditions.current,
    close: () => running.disposeAsync(),
  };
}

/** Writes the dump of a network that ends, after its messages in transit have arrived. */
async function dumpAtEnd(network: PrivateNetwork, path: string, logger: Logger): Promise<void> {
  network.shardBlocks.hold(false);
  if (!(await deliverMessages(network))) logger.warn('messages do not stop; the dump is without those in transit');
  writeDumpFile(path, writeDump(network.chain, network.head()).bytes);
}

function balanceAt(network: PrivateNetwork, place: FundedAccount): bigint {
  const { chain } = network;
  const found = accountAt(chain, network.head(), place);
  return (found && readAccount(chain.states, found.account)?.balance.grams) ?? 0n;
}

type Opened = {
  readonly network: PrivateNetwork;
  readonly stored: PersistedNetwork | undefined;
  readonly forked: OpenFork | undefined;
};

/** Opens the network with its folder and its origin. `parts` closes them. */
async function openNetwork(
  { blockTime, validators, keepChain, data, fork, liteServerPort, load }: Arguments,
  { version, logger, register, output }: PrivateNetworkDependencies,
  parts: AsyncDisposableStack,
): Promise<Opened> {
  const stored = keepChain ? openPersistedNetwork(join(data, 'network'), { logger }) : undefined;
  parts.adopt(stored, closePart);
  refuseOtherValidators(stored, validators);
  refuseOtherKind(stored, fork);
  if (load !== undefined && stored?.origin !== undefined) throw storedAlready();
  if (fork !== undefined && stored?.origin === undefined) output.write(`Tonplane: reading the network of ${fork}\n`);
  const forked = fork === undefined ? undefined : await openFork(fork, stored?.origin?.fork, { version, logger });
  parts.adopt(forked, closePart);
  using progress = new DisposableStack();
  if (stored?.origin !== undefined) progress.defer(reportProgress(register, output));
  const network = await createPrivateNetwork(
    {
      ...paceOf(blockTime),
      ...(validators !== undefined && { validators }),
      servers: [ownLiteServer(liteServerPort)],
      // A copy of another network has the global id of that network.
      ...(fork === undefined && { accounts: genesisAccounts(startupAccounts(DEFAULT_GLOBAL_ID)) }),
    },
    { logger, register, ...(stored !== undefined && { stored }), ...(forked && { fork: forked.source }) },
  );
  parts.adopt(network, closePart);
  return { network, stored, forked };
}

type MasterchainBlock = Parameters<NonNullable<DevNetwork['hasLost']>>[0];

/** A block that is older than all blocks of the chain is no lost one. */
function hasLost(chain: PrivateNetwork['chain'], { seqno, rootHash }: MasterchainBlock): boolean {
  const block = chain.masterchain(seqno);
  return block === undefined ? seqno > chain.lastSeqno : !block.id.rootHash.equals(rootHash);
}

type Filled = { readonly globalId: number; readonly accounts: StartupAccount[]; readonly demo: Demo | undefined };

/** The dump, the accounts and the demonstration that the network begins with. */
async function fillNetwork(
  { load, accounts: file, demo: withDemo }: Arguments,
  network: PrivateNetwork,
): Promise<Filled> {
  const globalId = globalIdOf(network);
  const startup = startupAccounts(globalId);
  const named = file === undefined ? [] : await readAccountsFile(file, globalId, startup);
  if (load !== undefined) await loadDump(network, readDumpFile('--load', load, DUMP_BYTES_MAX));
  const accounts = [...startup, ...named];
  await fundMissing(network, accounts);
  return { globalId, accounts, demo: withDemo ? await createDemo(network) : undefined };
}

function titleOf({ blockTime, data }: Arguments, { forked, stored }: Opened): string {
  const fork = forked === undefined ? '' : `, forked at block ${forked.source.block.seqno}`;
  return `A private TON network, ${blocksText(blockTime)}${fork}${stored === undefined ? '' : `, stored in ${data}`}.`;
}

function paceOf(blockTime: Arguments['blockTime']) {
  if (blockTime === 'manual') return {};
  return blockTime === 'on-demand' ? { blockPerMessage: true } : { blockSeconds: blockTime };
}

function blocksText(blockTime: Arguments['blockTime']): string {
  if (blockTime === 'manual') return 'blocks by dev_mine alone';
  return blockTime === 'on-demand' ? 'a block for each message' : `a block each ${blockTime} s`;
}

function storedAlready(): StartError {
  return new StartError({
    code: 'other_network',
    message: '--load: expected no --data, or a --data folder without a network; for a running network use dev load',
    data: { option: '--load' },
    retryable: false,
  });
}

/** A body that is no object has no fields. The first missing field is reported. */
function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

/** The network's first state has its validators, so the command line cannot change them. */
function refuseOtherValidators(stored: PersistedNetwork | undefined, validators: number | undefined): void {
  const there = stored?.origin?.validators;
  if (there === undefined || validators === undefined || validators === there) return;
  throw new StartError({
    code: 'other_network',
    message: `--validators: expected ${there} or no option, because the network in --data has ${there} validators, got ${validators}`,
    data: { option: '--validators', validators, there },
    retryable: false,
  });
}

/** A copy of another network needs that network for unread accounts. A network that is no copy has nothing to read. */
function refuseOtherKind(stored: PersistedNetwork | undefined, fork: string | undefined): void {
  if (stored?.origin === undefined || (stored.origin.fork === undefined) === (fork === undefined)) return;
  const point = stored.origin.fork;
  throw otherFork(
    point === undefined
      ? 'it is no copy of a network; expected no --fork, or another --data'
      : `it is a copy of a network at block ${point.block.seqno}; expected --fork as it began, or another --data`,
  );
}

/** Milliseconds between progress reports while a long chain is loaded. */
const TELL_EVERY_MS = 1000;

function reportProgress(register: Registry, output: NodeJS.WritableStream): () => void {
  output.write('Tonplane: loading the stored network\n');
  const timer = setInterval(() => void tell(), TELL_EVERY_MS);
  const tell = async (): Promise<void> => {
    const loaded = await register.getSingleMetric(loadedMetric)?.get();
    const part = loaded?.values[0]?.value ?? 0;
    output.write(`Tonplane: ${Math.floor(part * 100)} % of the stored network is loaded\n`);
  };
  return () => clearInterval(timer);
}
