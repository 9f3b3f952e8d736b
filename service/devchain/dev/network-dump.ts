import { BitWriter } from '#service/decode/bit-writer.ts';
import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { walkHashmap, keyUint } from '#service/decode/hashmap.ts';
import { readAccount, storeAccount } from '#service/decode/tlb/account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { editConfig } from '../chain/edit-builders.ts';
import type { Chain, ChainBlock } from '../chain/chain.ts';
import type { AccountEdit } from '../collator/state-edits.ts';
import { badArgument, DevchainError } from '../chain/errors.ts';
import { listAccounts } from '../chain/snapshots.ts';
import { CONFIG_ID, ELECTOR_ID } from '../zerostate/genesis-config.ts';

/** First bytes of a dump. The last byte is the version of its form. */
const MAGIC = 0x7470_6401;

/** Most bytes of a dump: the limit of a bag. */
export const DUMP_BYTES_MAX = 64 * 1_048_576;

const ACCOUNTS_MAX = 1 << 20;

/** Sets of validators: a network signs with its own. */
const VALIDATOR_PARAMETERS: ReadonlySet<number> = new Set([32, 33, 34, 35, 36, 37]);

export function isOfValidators(parameter: number): boolean {
  return VALIDATOR_PARAMETERS.has(parameter);
}

/** Parameters of a network's own: the zerostate of its workchain, and its global id, as in its blocks. */
const OWN_PARAMETERS: ReadonlySet<number> = new Set([12, 19]);

/** The state of a network outside of its blocks. */
export type NetworkDump = {
  /** Unix seconds of the block that it is of. */
  readonly utime: number;
  /** Accounts behind the header, each a cell `Account`. */
  readonly boc: Boc;
  readonly accounts: readonly number[];
};

/**
 * Returns all accounts at a masterchain block. The first root of the bag is `magic:uint32 utime:uint32`, and each further root is an
 * `Account`. A dump has no blocks and no transactions.
 */
export function writeDump(chain: Chain, top: ChainBlock): { readonly bytes: Buffer; readonly accounts: number } {
  const store = createCellStore();
  const utime = readShardState(chain.states, top.state).utime;
  const header = new BitWriter().uint(MAGIC, 32).uint(utime, 32).finish(store);
  const accounts = [...listAccounts(chain, top).values()].map(({ account }) =>
    store.import(chain.states, account.account),
  );
  return { bytes: writeBoc(store, [header, ...accounts], { crc32c: true }), accounts: accounts.length };
}

/** @throws DevchainError `bad_argument` naming `field` */
export function readDump(bytes: Buffer, field: string): NetworkDump {
  try {
    const boc = parseBoc(bytes, { bytesMax: DUMP_BYTES_MAX, rootsMax: ACCOUNTS_MAX });
    const [header, ...accounts] = boc.roots;
    const slice = new CellSlice(boc, header!);
    if (slice.uint(32) !== MAGIC) throw badArgument(field, 'expected a dump of this release, got another bag of cells');
    for (const account of accounts) {
      if (readAccount(boc, account) === undefined) throw badArgument(field, 'expected accounts, got an empty one');
      // Checks the hashes in Merkle cells.
      boc.hash(account);
    }
    return { utime: slice.uint(32), boc, accounts };
  } catch (cause) {
    if (cause instanceof DevchainError) throw cause;
    throw badArgument(field, 'expected a dump of dev_dump, of at most 64 MiB', cause);
  }
}

const SYSTEM_IDS = [CONFIG_ID, ELECTOR_ID];

function isSystem({ workchain, id }: { readonly workchain: number; readonly id: Buffer }): boolean {
  return workchain === -1 && SYSTEM_IDS.some((system) => system.equals(id));
}

/**
 * Returns edits that replace a network's accounts by the accounts of a dump. The elector and the sets of validators stay. An account
 * retains its last transaction, because it leads to the earlier ones.
 */
export function editsToDump(chain: Chain, top: ChainBlock, { boc, accounts }: NetworkDump): AccountEdit[] {
  const edits: AccountEdit[] = [];
  const wanted = new Set<string>();
  for (const cell of accounts) {
    const { address, ...account } = readAccount(boc, cell)!;
    const place = { workchain: address.workchain, id: address.id };
    wanted.add(keyOf(place));
    if (isSystem(place)) {
      if (place.id.equals(CONFIG_ID)) edits.push(...configEdit(boc, account));
      continue;
    }
    edits.push({
      ...place,
      edit(states, found) {
        const loaded = readAccount(states, states.import(boc, cell))!;
        const old = found === undefined ? undefined : readAccount(states, found);
        const { lastPaid, duePayment } = loaded.storage;
        const { balance, state } = loaded;
        return storeAccount(states, {
          ...place,
          lastPaid,
          duePayment,
          balance,
          state,
          lastTransactionLt: old?.lastTransactionLt ?? 0n,
        });
      },
    });
  }
  const gone = [...listAccounts(chain, top).values()].filter((one) => !isSystem(one) && !wanted.has(keyOf(one)));
  return [...edits, ...gone.map(({ workchain, id }) => ({ workchain, id, edit: () => undefined }))];
}

/** Parameters of the dump's configuration, without those that a network keeps. */
function configEdit(boc: Boc, { state }: Pick<NonNullable<ReturnType<typeof readAccount>>, 'state'>): AccountEdit[] {
  if (state.kind !== 'active' || state.init.data === undefined) return [];
  const root = new CellSlice(boc, state.init.data).ref();
  const cells = new Map<number, number>();
  walkHashmap(boc, root, 32, (key, value) => {
    const parameter = keyUint(key, 32) | 0;
    if (!isOfValidators(parameter) && !OWN_PARAMETERS.has(parameter)) cells.set(parameter, value.ref());
  });
  return [
    editConfig((states) => new Map([...cells].map(([parameter, cell]) => [parameter, states.import(boc, cell)]))),
  ];
}

function keyOf({ workchain, id }: { readonly workchain: number; readonly id: Buffer }): string {
  return `${workchain}:${id.toString('latin1')}`;
}
