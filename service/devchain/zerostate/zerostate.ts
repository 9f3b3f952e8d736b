import { createHash } from 'node:crypto';
import { BitWriter } from '#service/decode/bit-writer.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { openExtra } from '#service/decode/hashmap-writer.ts';
import { storeAccount } from '#service/decode/tlb/account.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { NO_CURRENCIES, onlyGrams } from '#service/decode/tlb/currency-collection.ts';
import { readDepthBalanceInfo, writeDepthBalanceInfo } from '#service/decode/tlb/depth-balance-info.ts';
import {
  storeMasterchainStateDetails,
  storeMasterchainStateExtra,
} from '#service/decode/tlb/masterchain-state-extra.ts';
import { storeOutMsgQueueInfo } from '#service/decode/tlb/out-msg-queue-info.ts';
import { updateShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { storeShardState, storeShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import type { ValidatorDescr } from '#service/decode/tlb/validator-set.ts';
import { masterchainValidators, validatorSetHash } from '#service/decode/validator-session.ts';
import { CONFIG_CODE, ELECTOR_CODE } from './contracts.ts';
import type { GenesisConfigOptions } from './genesis-config.ts';
import { CONFIG_ID, ELECTOR_ID, storeGenesisConfig } from './genesis-config.ts';

/** A network's state before its first block. */
export type ZeroStates = { readonly masterchain: ZeroState; readonly basechain: ZeroState };

/** A zerostate and its file. */
export type ZeroState = { readonly id: BlockId; readonly bytes: Buffer };

export type ZeroStateOptions = Omit<GenesisConfigOptions, 'basechain'> & {
  readonly validators: readonly ValidatorDescr[];
  /** Logical time of the states; default 0. */
  readonly lt?: bigint;
  /** Accounts of the basechain that there are from the start. */
  readonly accounts: readonly GenesisAccount[];
};

/** An account that is there before the first block. */
export type GenesisAccount = {
  readonly id: Buffer;
  /** Nanotons. */
  readonly balance: bigint;
  /** Code and data are cells of `store`. */
  readonly store: CellStore;
  readonly code: number;
  readonly data: number;
  readonly special?: { readonly tick: boolean; readonly tock: boolean };
};

/** Nanotons of the network's own contracts. */
const CONTRACT_BALANCE = 10_000_000_000n;

/** Placeholder for the masterchain seqno in a zerostate that refers to none. */
const NO_SEQNO = 0xffff_ffff;

/** Makes the zerostates of a new network. The same options give the same bytes. */
export function buildZeroStates(options: ZeroStateOptions): ZeroStates {
  const basechain = writeState(createCellStore(), options, 0, options.accounts);
  const store = createCellStore();
  const config = storeGenesisConfig(store, { ...options, basechain: basechain.id });
  const own: GenesisAccount[] = [elector(store), configContract(store, config)];
  const total = [...own, ...options.accounts].reduce((sum, { balance }) => sum + balance, 0n);
  return { basechain, masterchain: writeState(store, options, MASTERCHAIN, own, { config, total }) };
}

/** Empty elector: three empty dictionaries, no grams, no active set. */
function elector(store: CellStore): GenesisAccount {
  const data = new BitWriter().uint(0, 3).coins(0n).int(0n, 288).finish(store);
  const init = { code: importCode(store, ELECTOR_CODE), data, special: { tick: true, tock: false } };
  return { id: ELECTOR_ID, balance: CONTRACT_BALANCE, store, ...init };
}

/** The configuration, its seqno, no key that could change it, no votes. */
function configContract(store: CellStore, config: number): GenesisAccount {
  const data = new BitWriter().ref(config).uint(0, 32).bytes(Buffer.alloc(32)).bit(false).finish(store);
  const init = { code: importCode(store, CONFIG_CODE), data, special: { tick: false, tock: true } };
  return { id: CONFIG_ID, balance: CONTRACT_BALANCE, store, ...init };
}

function importCode(store: CellStore, text: string): number {
  const boc = parseBoc(Buffer.from(text, 'base64'));
  return store.import(boc, boc.roots[0]!);
}

function writeState(
  store: CellStore,
  options: ZeroStateOptions,
  workchain: number,
  accounts: readonly GenesisAccount[],
  masterchain?: { readonly config: number; readonly total: bigint },
): ZeroState {
  const { globalId, utime } = options;
  const changes = accounts.map((account) => ({
    id: account.id,
    account: {
      account: storeGenesisAccount(store, workchain, account),
      lastTransactionHash: Buffer.alloc(32),
      lastTransactionLt: 0n,
    },
  }));
  const root = updateShardAccounts(store, undefined, changes);
  const whole =
    root === undefined ? { splitDepth: 0, balance: NO_CURRENCIES } : readDepthBalanceInfo(openExtra(store, root, 256));
  const state = storeShardState(store, {
    globalId,
    workchain,
    shard: FULL_SHARD,
    seqno: 0,
    vertSeqno: 0,
    utime,
    lt: options.lt ?? 0n,
    minRefMasterchainSeqno: NO_SEQNO,
    outMsgQueueInfo: storeOutMsgQueueInfo(store, {
      queue: undefined,
      processed: undefined,
      dispatch: undefined,
      size: undefined,
    }),
    beforeSplit: false,
    accounts: writeDepthBalanceInfo(new BitWriter().maybeRef(root), whole).finish(store),
    details: storeShardStateDetails(store, {
      overloadHistory: 0n,
      underloadHistory: 0n,
      totalBalance: whole.balance,
      totalValidatorFees: NO_CURRENCIES,
      libraries: undefined,
      masterRef: undefined,
    }),
    custom: masterchain && storeExtra(store, options, masterchain.config, onlyGrams(masterchain.total)),
  });
  const bytes = writeBoc(store, [state], { crc32c: true });
  const fileHash = createHash('sha256').update(bytes).digest();
  return { id: { workchain, shard: FULL_SHARD, seqno: 0, rootHash: store.hash(state), fileHash }, bytes };
}

/** Writes an account without transactions. As in any zerostate, it pays for its storage from its first transaction on. */
function storeGenesisAccount(target: CellStore, workchain: number, account: GenesisAccount): number {
  const { id, balance, store, special } = account;
  const [code, data] = [target.import(store, account.code), target.import(store, account.data)];
  return storeAccount(target, {
    workchain,
    id,
    lastPaid: 0,
    duePayment: undefined,
    lastTransactionLt: 0n,
    balance: onlyGrams(balance),
    state: { kind: 'active', init: { fixedPrefixLength: undefined, special, code, data, libraries: undefined } },
  });
}

/** The zerostate counts as a key block: its configuration decides who signs the first blocks. */
function storeExtra(
  store: CellStore,
  { validators }: ZeroStateOptions,
  config: number,
  globalBalance: CurrencyCollection,
): number {
  const session = masterchainValidators(validators, validators.length, true, 0);
  const details = storeMasterchainStateDetails(store, {
    flags: 0,
    validatorListHashShort: validatorSetHash(0, session),
    catchainSeqno: 0,
    nextCatchainUpdated: true,
    prevBlocks: undefined,
    afterKeyBlock: true,
    lastKeyBlock: undefined,
    blockCreateStats: undefined,
  });
  return storeMasterchainStateExtra(store, {
    shardHashes: undefined,
    config: { address: CONFIG_ID, root: config },
    details,
    globalBalance,
  });
}
