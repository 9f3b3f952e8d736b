import { parseAddress } from '../decode/address.ts';
import type { Boc } from '../decode/boc.ts';
import { parseBoc } from '../decode/boc.ts';
import type { CellStore } from '../decode/cell-store.ts';
import type { AccountChange } from './account-edits.ts';
import { editAccount } from './account-edits.ts';
import type { DevchainError } from './errors.ts';
import { badArgument } from './errors.ts';
import type { Faucet, FundedAccount } from './faucet.ts';
import { readAmount } from './amount.ts';
import type { PrivateNetwork } from './private-network.ts';
import { accountAt, editsBackTo, hasMessagesOnTheWay } from './snapshots.ts';
import { readAccount } from '../decode/tlb/account.ts';

/** What a developer may do with a network besides sending messages: each takes its fields by name and answers with plain values. */
export type DevMethods = Readonly<Record<string, DevMethod>>;

export type DevMethod = {
  /** In the order in which they may be given without names. */
  readonly fields: readonly string[];
  run(fields: Readonly<Record<string, unknown>>): Promise<unknown>;
};

/** Blocks made by one call: some 10 ms each, so that an answer comes within seconds. */
const BLOCKS_MAX = 1000;

/** Ten years: beyond that validators, storage debts and 32-bit times say nothing about contracts any more. */
const ADVANCE_SECONDS_MAX = 10 * 366 * 86_400;

/** Snapshots remembered; the oldest is forgotten first. Each is a number: the states are kept anyway, as long as there is room. */
const SNAPSHOTS_MAX = 1000;

/** Blocks made until no message is on its way: a message needs two or three from chain to chain, and may send others. */
const SETTLE_BLOCKS_MAX = 32;

/** All coins of the main network, a thousand times: more does not add up in 120 bits with the rest. */
const BALANCE_MAX = 5_000_000_000_000_000_000_000n;

/** Depth of code and data: what the network lets a contract set. */
const STATE_DEPTH_MAX = 512;

type Fields = Readonly<Record<string, unknown>>;

export function createDevMethods({
  network,
  faucet,
}: {
  readonly network: PrivateNetwork;
  readonly faucet: Faucet;
}): DevMethods {
  const { chain } = network;
  const snapshots = new Map<number, number>();
  let lastSnapshot = 0;

  const where = () => ({ seqno: network.head().id.seqno, utime: network.head().header.utime });

  /** Lets all that is on its way arrive, so that nothing of it reaches into another history. */
  async function settle(): Promise<void> {
    for (let block = 0; block < SETTLE_BLOCKS_MAX; block++) {
      if (!hasMessagesOnTheWay(chain, network.head())) return;
      await network.step();
    }
    throw unsettled();
  }

  /** In the first block before which nothing is on its way, and nothing has come over that is not known here. */
  async function revertTo(seqno: number): Promise<number> {
    for (let block = 0; block < SETTLE_BLOCKS_MAX; block++) {
      let reverted = false;
      const { forkedAccounts } = network;
      const originals = await network.originals(seqno);
      const accounts = await network.change(() => {
        if (hasMessagesOnTheWay(chain, network.head()) || network.forkedAccounts !== forkedAccounts) return [];
        reverted = true;
        return editsBackTo(chain, network.head(), chain.masterchain(seqno)!, originals);
      });
      if (reverted) return accounts;
    }
    throw unsettled();
  }

  /** @param wanted what is to change; cells are imported when the block is made */
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
    await network.step([editAccount(place, wanted)]);
    return where();
  }

  return {
    dev_status: {
      fields: [],
      run: async () => ({ ...where(), clock: network.utime(), waitingMessages: network.waiting }),
    },
    dev_mine: {
      fields: ['blocks'],
      async run(fields) {
        const blocks = fields['blocks'] === undefined ? 1 : readInteger(fields, 'blocks', 1, BLOCKS_MAX);
        for (let block = 0; block < blocks; block++) await network.step();
        return where();
      },
    },
    dev_advance: {
      fields: ['seconds'],
      async run(fields) {
        await network.advance(readInteger(fields, 'seconds', 0, ADVANCE_SECONDS_MAX));
        return where();
      },
    },
    dev_setTime: {
      fields: ['utime'],
      async run(fields) {
        const clock = network.utime();
        await network.advance(readInteger(fields, 'utime', clock, clock + ADVANCE_SECONDS_MAX) - clock);
        return where();
      },
    },
    dev_snapshot: {
      fields: [],
      async run() {
        await settle();
        snapshots.set(++lastSnapshot, network.head().id.seqno);
        if (snapshots.size > SNAPSHOTS_MAX) snapshots.delete(snapshots.keys().next().value!);
        return { snapshot: lastSnapshot, ...where() };
      },
    },
    dev_revert: {
      fields: ['snapshot'],
      async run(fields) {
        const snapshot = readInteger(fields, 'snapshot', 1, Number.MAX_SAFE_INTEGER);
        const seqno = snapshots.get(snapshot);
        if (seqno === undefined) throw badArgument('snapshot', `expected one that dev_snapshot gave, got ${snapshot}`);
        const block = chain.masterchain(seqno);
        if (block === undefined || !chain.holdsState(block)) {
          throw badArgument('snapshot', `expected one whose states are still held, got ${snapshot} of block ${seqno}`);
        }
        return { accounts: await revertTo(seqno), ...where() };
      },
    },
    dev_setBalance: {
      fields: ['address', 'balance'],
      async run(fields) {
        const balance = readNanotons(fields);
        return change(fields, 'balance', () => ({ balance }));
      },
    },
    dev_setCode: {
      fields: ['address', 'code'],
      async run(fields) {
        const bag = readBag(fields, 'code');
        await network.ensureLibraries(bag);
        return change(fields, 'code', (states) => ({ code: states.import(bag, bag.roots[0]!) }));
      },
    },
    dev_setData: {
      fields: ['address', 'data'],
      async run(fields) {
        const bag = readBag(fields, 'data');
        await network.ensureLibraries(bag);
        return change(fields, 'data', (states) => ({ data: states.import(bag, bag.roots[0]!) }));
      },
    },
    dev_fund: { fields: ['address', 'amount'], run: (fields) => fund(faucet, fields) },
  };
}

/** Sends TON of the faucet: `address` in any form, `amount` in TON; what the faucet's page and `dev_fund` do. */
export async function fund(faucet: Faucet, fields: Fields): Promise<unknown> {
  const destination = readPlace(fields);
  const amount = readAmount(fields['amount']);
  const { messageHash, seqno } = await faucet.fund(destination, amount);
  return { message_hash: messageHash.toString('base64'), amount: amount.toString(), seqno };
}

function unsettled(): DevchainError<'bad_argument'> {
  return badArgument('network', `messages are still on their way after ${SETTLE_BLOCKS_MAX} blocks; try again later`);
}

function readPlace(fields: Fields): FundedAccount {
  const text = fields['address'];
  const address = typeof text === 'string' ? parseAddress(text.trim()) : undefined;
  if (address === undefined) {
    throw badArgument('address', 'expected an account address, raw (0:64 hex digits) or friendly (48 characters)');
  }
  const { workchain, id } = address;
  if (workchain !== 0 && workchain !== -1) {
    throw badArgument('address', `expected one of workchain 0 or -1, got workchain ${workchain}`);
  }
  return { workchain, id };
}

function readInteger(fields: Fields, field: string, min: number, max: number): number {
  const value = fields[field];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw badArgument(field, `expected a whole number from ${min} to ${max}, got ${shown(value)}`);
  }
  return value;
}

function readNanotons(fields: Fields): bigint {
  const value = fields['balance'];
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,25}$/.test(text) || BigInt(text) > BALANCE_MAX) {
    throw badArgument('balance', `expected nanotons, digits alone, at most ${BALANCE_MAX}, got ${shown(value)}`);
  }
  return BigInt(text);
}

/** A bag of one root, as an account of the network may have it. */
function readBag(fields: Fields, field: string): Boc {
  const text = fields[field];
  if (typeof text !== 'string') throw badArgument(field, `expected a bag of cells in base64, got ${shown(text)}`);
  const boc = parseOr(Buffer.from(text, 'base64'), () =>
    badArgument(field, 'expected a bag of cells in base64, got something else'),
  );
  if (boc.roots.length !== 1) {
    throw badArgument(field, 'expected a bag of one cell and those below it, got one of several roots');
  }
  const depth = boc.depth(boc.roots[0]!);
  if (depth > STATE_DEPTH_MAX) {
    throw badArgument(field, `expected cells of a depth of at most ${STATE_DEPTH_MAX}, got ${depth}`);
  }
  return boc;
}

function parseOr(bytes: Buffer, refusal: () => Error): Boc {
  try {
    const boc = parseBoc(bytes);
    // Checks the hashes in Merkle cells.
    for (const root of boc.roots) boc.hash(root);
    return boc;
  } catch {
    throw refusal();
  }
}

/** What was given, short enough for a message. */
function shown(value: unknown): string {
  const text = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item));
  if (text === undefined) return 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
