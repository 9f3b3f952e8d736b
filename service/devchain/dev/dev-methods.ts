import { blockText } from '#service/decode/block-id.ts';
import type { Boc } from '#service/decode/boc.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { AccountChange } from '../chain/edit-builders.ts';
import { editAccount, editConfig } from '../chain/edit-builders.ts';
import { readAmount } from './ton-amount.ts';
import type { ChainBlock } from '../chain/chain.ts';
import { openMasterchainState } from '../collator/masterchain-state.ts';
import type { ConditionsHolder } from './conditions.ts';
import { noConditions } from './conditions.ts';
import type { Fields } from './fields.ts';
import { COINS_MAX, readBag, readBoolean, readInteger, readName, readPlace, readUnits } from './fields.ts';
import { fundAtOnce } from './fund.ts';
import { mintJetton } from './jetton-mint.ts';
import type { MethodName, MethodParameter } from './method-table.ts';
import { ADVANCE_SECONDS_MAX, UTIME_MAX, methodRows } from './method-table.ts';
import { DUMP_BYTES_MAX, editsToDump, isOfValidators, readDump, writeDump } from './network-dump.ts';
import { sendAs } from './send-as.ts';
import { createSnapshotList } from './snapshot-list.ts';
import type { DevchainError } from '../chain/errors.ts';
import { badArgument } from '../chain/errors.ts';
import type { Faucet } from '../production/faucet.ts';
import { createMethodRunner } from '../queries/method-runner.ts';
import type { PrivateNetwork } from '../private-network.ts';
import { accountAt, editsBackTo, hasMessagesOnTheWay } from '../chain/snapshots.ts';
import { storeParams } from '../zerostate/genesis-config.ts';

/** Actions of a developer on a network, besides sending messages. Each takes its fields by name and returns plain values. */
export type DevMethods = Readonly<Record<MethodName, (fields: Fields) => Promise<unknown>>>;

/** Most blocks made until no message is in transit. A message needs two or three blocks from chain to chain, and may cause others. */
const SETTLE_BLOCKS_MAX = 32;

export function createDevMethods({
  network,
  faucet,
  conditions = { current: noConditions },
}: {
  readonly network: PrivateNetwork;
  readonly faucet: Faucet;
  readonly conditions?: ConditionsHolder;
}): DevMethods {
  const control = createControl(network);
  const { settle, change, where, makeAll } = control;
  const runner = createMethodRunner();
  return {
    ...snapshotMethods(network, control),
    ...timeMethods(network, control),
    ...finalityMethods(network, control),
    dev_status: async () => ({ ...where(), clock: network.utime(), waitingMessages: network.waiting }),
    async dev_mine(fields) {
      const blocks = fields['blocks'] === undefined ? 1 : boundedInteger('dev_mine', fields, 'blocks');
      for (let block = 0; block < blocks; block++) await network.step();
      return where();
    },
    async dev_setBalance(fields) {
      const balance = readUnits(fields, 'balance', 'nanotons');
      return change(fields, 'balance', () => ({ balance }));
    },
    async dev_setCode(fields) {
      const bag = readBag(fields, 'code');
      await network.ensureLibraries(bag);
      return change(fields, 'code', (states) => ({ code: states.import(bag, bag.roots[0]!) }));
    },
    async dev_setData(fields) {
      const bag = readBag(fields, 'data');
      await network.ensureLibraries(bag);
      return change(fields, 'data', (states) => ({ data: states.import(bag, bag.roots[0]!) }));
    },
    async dev_setConfig(fields) {
      const parameter = boundedInteger('dev_setConfig', fields, 'parameter');
      if (isOfValidators(parameter)) throw badArgument('parameter', 'expected none of the validators, 32 to 37');
      const bag = fields['value'] === undefined ? undefined : readBag(fields, 'value');
      refuseBadConfig(network, parameter, bag);
      network.shardBlocks.hold(false);
      await network.step([editConfig((states) => new Map([[parameter, bag && states.import(bag, bag.roots[0]!)]]))]);
      return where();
    },
    dev_fund: (fields) => fundAtOnce({ network, faucet }, fields),
    async dev_mintJetton(fields) {
      const [jetton, owner] = [readPlace(fields, 'jetton'), readPlace(fields)];
      const amount = readUnits(fields, 'amount', 'the smallest units', COINS_MAX);
      const { messageHash, supply } = await mintJetton({ jetton, owner, amount }, { network, runner, settle });
      return { message_hash: messageHash.toString('base64'), supply: supply.toString(), ...where() };
    },
    async dev_sendInternal(fields) {
      const { messageHash } = await sendAs(network, {
        from: readPlace(fields, 'from'),
        to: readPlace(fields, 'to'),
        nanotons: readAmount(fields['amount']),
        body: fields['body'] === undefined ? undefined : readBag(fields, 'body'),
        bounce: readBoolean(fields, 'bounce', true),
      });
      await settle();
      return { message_hash: messageHash.toString('base64'), ...where() };
    },
    async dev_load(fields) {
      const text = fields['dump'];
      if (typeof text !== 'string') throw badArgument('dump', 'expected a dump in base64');
      const accounts = await loadDump(network, Buffer.from(text, 'base64'), makeAll);
      return { accounts, ...where() };
    },
    async dev_conditions(fields) {
      const read = (name: keyof typeof noConditions): number =>
        fields[name] === undefined ? 0 : boundedInteger('dev_conditions', fields, name);
      conditions.current = {
        delayMs: read('delayMs'),
        failurePercent: read('failurePercent'),
        requestsPerSecond: read('requestsPerSecond'),
      };
      return conditions.current;
    },
  };
}

/**
 * Makes blocks until no message is in transit, so that no message reaches another history.
 * @returns false when messages are in transit after 32 blocks
 */
export async function deliverMessages(network: PrivateNetwork): Promise<boolean> {
  for (let block = 0; block < SETTLE_BLOCKS_MAX; block++) {
    if (!hasMessagesOnTheWay(network.chain, network.head())) return true;
    await network.step();
  }
  return false;
}

type Control = ReturnType<typeof createControl>;

/** Steps that several methods take. */
function createControl(network: PrivateNetwork) {
  const { chain } = network;

  const where = () => ({
    seqno: network.head().id.seqno,
    utime: network.head().header.utime,
    aheadSeconds: network.aheadSeconds(),
  });

  async function settle(): Promise<void> {
    network.shardBlocks.hold(false);
    if (network.shardBlocks.signed().length > 0) await network.step();
    if (!(await deliverMessages(network))) throw unsettled();
  }

  /**
   * Changes accounts in the first block without messages in transit. Starts again when an account of the forked network was fetched during
   * the preparation.
   */
  async function makeAll(edits: () => Promise<() => Parameters<PrivateNetwork['step']>[0] & object>): Promise<number> {
    network.shardBlocks.hold(false);
    network.shardBlocks.drop();
    for (let block = 0; block < SETTLE_BLOCKS_MAX; block++) {
      let made = false;
      const { forkedAccounts } = network;
      const list = await edits();
      const accounts = await network.change(() => {
        if (hasMessagesOnTheWay(chain, network.head()) || network.forkedAccounts !== forkedAccounts) return [];
        made = true;
        return list();
      });
      if (made) return accounts;
    }
    throw unsettled();
  }

  /** @param wanted the change; its cells are imported when the block is made */
  async function change(
    fields: Fields,
    kind: keyof AccountChange,
    wanted: (states: CellStore) => AccountChange,
  ): Promise<unknown> {
    const place = readPlace(fields);
    await network.ensure(place);
    const found = accountAt(chain, network.head(), place);
    const old = found && readAccount(chain.states, found.account);
    if (kind === 'data' && old?.state.kind !== 'active') {
      throw badArgument('address', 'expected an account with code; set its code first');
    }
    network.shardBlocks.hold(false);
    await network.step([editAccount(place, wanted)]);
    return where();
  }

  return { where, settle, makeAll, change };
}

function snapshotMethods(
  network: PrivateNetwork,
  { where, settle, makeAll }: Control,
): Pick<
  DevMethods,
  'dev_snapshot' | 'dev_revert' | 'dev_snapshots' | 'dev_deleteSnapshot' | 'dev_exportSnapshot' | 'dev_dump'
> {
  const { chain } = network;
  const snapshots = createSnapshotList();

  /** Returns the block of a snapshot; its states must be available. */
  function blockOf(given: unknown): ChainBlock {
    const { snapshot, seqno } = snapshots.find(given);
    const block = chain.masterchain(seqno);
    if (block === undefined || !chain.holdsState(block)) {
      throw badArgument(
        'snapshot',
        `expected a snapshot whose states are still in memory, got ${snapshot} of block ${seqno}`,
      );
    }
    return block;
  }

  return {
    async dev_snapshot(fields) {
      const name = readName(fields, 'name');
      await settle();
      const { snapshot } = snapshots.add({ seqno: network.head().id.seqno, utime: network.head().header.utime }, name);
      return { snapshot, ...(name !== undefined && { name }), ...where() };
    },
    async dev_revert(fields) {
      const block = blockOf(fields['snapshot']);
      const accounts = await makeAll(async () => {
        const originals = await network.originals(block.id.seqno);
        return () => editsBackTo(chain, network.head(), block, originals);
      });
      return { accounts, ...where() };
    },
    dev_snapshots: async () => ({ snapshots: snapshots.list() }),
    dev_deleteSnapshot: async (fields) => snapshots.delete(fields['snapshot']),
    dev_exportSnapshot: async (fields) => dump(network, blockOf(fields['snapshot'])),
    async dev_dump() {
      await settle();
      return dump(network, network.head());
    },
  };
}

function dump(network: PrivateNetwork, block: ChainBlock): object {
  const { bytes, accounts } = writeDump(network.chain, block);
  if (bytes.length > DUMP_BYTES_MAX) {
    throw badArgument('network', `it takes ${bytes.length} bytes, and a dump ${DUMP_BYTES_MAX} at most`);
  }
  return {
    accounts,
    seqno: block.id.seqno,
    utime: block.header.utime,
    bytes: bytes.length,
    dump: bytes.toString('base64'),
  };
}

/**
 * Makes the network that of a dump, at a time not before that of the dump.
 * @returns how many accounts were changed
 * @throws DevchainError `bad_argument`
 */
export async function loadDump(
  network: PrivateNetwork,
  bytes: Buffer,
  makeAll: Control['makeAll'] = createControl(network).makeAll,
): Promise<number> {
  const given = readDump(bytes, 'dump');
  if (given.utime > network.utime()) await network.advance(given.utime - network.utime());
  return await makeAll(async () => () => editsToDump(network.chain, network.head(), given));
}

function finalityMethods(
  network: PrivateNetwork,
  { where }: Control,
): Pick<DevMethods, 'dev_signShardBlocks' | 'dev_holdShardBlocks' | 'dev_delayBlocks'> {
  return {
    async dev_signShardBlocks(fields) {
      const blocks = await network.shardBlocks.sign(readBoolean(fields, 'externals', true));
      return { blocks: blocks.map(({ id }) => blockText(id)), ...where() };
    },
    async dev_holdShardBlocks(fields) {
      const hold = readBoolean(fields, 'hold', true);
      network.shardBlocks.hold(hold);
      return { hold, ...where() };
    },
    async dev_delayBlocks(fields) {
      network.delayBlocks(boundedInteger('dev_delayBlocks', fields, 'seconds'));
      return where();
    },
  };
}

function timeMethods(
  network: PrivateNetwork,
  { where }: Control,
): Pick<DevMethods, 'dev_advance' | 'dev_setTime' | 'dev_setNextBlockTime'> {
  return {
    async dev_advance(fields) {
      const seconds = boundedInteger('dev_advance', fields, 'seconds');
      const left = UTIME_MAX - network.utime();
      if (seconds > left) {
        throw badArgument(
          'seconds',
          `expected at most ${left}: the last second of the network is ${UTIME_MAX}, got ${seconds}`,
        );
      }
      await network.advance(seconds);
      return where();
    },
    async dev_setTime(fields) {
      const clock = network.utime();
      await network.advance(
        readInteger(fields, 'utime', clock, Math.min(clock + ADVANCE_SECONDS_MAX, UTIME_MAX)) - clock,
      );
      return where();
    },
    async dev_setNextBlockTime(fields) {
      const { utime } = network.head().header;
      network.setNextUtime(readInteger(fields, 'utime', utime + 1, Math.min(utime + ADVANCE_SECONDS_MAX, UTIME_MAX)));
      return where();
    },
  };
}

/** Refuses a value with which no further block could be made. */
function refuseBadConfig(network: PrivateNetwork, parameter: number, bag: Boc | undefined): void {
  const { chain } = network;
  const { config } = openMasterchainState(chain.states, network.head().state);
  const states = createCellStore();
  const cell = bag && states.import(bag, bag.roots[0]!);
  try {
    const root = storeParams(states, states.import(chain.states, config.root), new Map([[parameter, cell]]));
    network.tryConfiguration(states, root);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw badArgument('value', `expected a value that parameter ${parameter} can have: ${reason}`, cause);
  }
}

/** Reads a whole number within the bounds of its row in the table. */
function boundedInteger(method: MethodName, fields: Fields, field: string): number {
  const parameters: readonly MethodParameter[] = methodRows[method].parameters;
  const row = parameters.find(({ name }) => name === field);
  if (row?.kind !== 'integer') throw new Error(`${method} has no whole number ${field}`);
  return readInteger(fields, field, row.min, row.max);
}

function unsettled(): DevchainError<'bad_argument'> {
  return badArgument('network', `messages are still on their way after ${SETTLE_BLOCKS_MAX} blocks; try again later`);
}
