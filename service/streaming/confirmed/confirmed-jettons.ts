import type { Logger } from 'pino';

import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { readMessageAddress } from '#service/decode/tlb/message-address.ts';
import { accountKey } from '#service/store/account-key.ts';
import { StoreError } from '#service/store/errors.ts';
import { hashKey } from '#service/store/hash-key.ts';
import { findWallets, type FoundWallet } from '#service/store/queries/final-blocks.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { viewBytes } from '#service/v3/request/scalars.ts';
import type { JettonChange } from '../changes.ts';
import type { WatchedHub } from '../hub.ts';
import { viewJettonChange } from '../final/account-changes.ts';
import { lastOfAccounts, type SeenBlock } from './seen-block.ts';

/** Jetton wallets of signed blocks that a connection watches. */
export type ConfirmedJettons = {
  /** New states in a block. An index that cannot be read shows them when they are final. */
  readonly of: (block: SeenBlock) => Promise<readonly JettonChange[]>;
  /**
   * Last final states of wallets whose confirmed states are void.
   * @throws StoreError
   */
  readonly corrections: (blocks: readonly SeenBlock[]) => Promise<readonly JettonChange[]>;
};

export type ConfirmedJettonsDependencies = {
  readonly reader: StoreReader;
  readonly hub: Pick<WatchedHub, 'watchesConfirmed' | 'wantsConfirmed'>;
  readonly logger: Logger;
};

export function createConfirmedJettons({ reader, hub, logger }: ConfirmedJettonsDependencies): ConfirmedJettons {
  async function watched(read: () => Promise<readonly JettonChange[]>): Promise<readonly JettonChange[]> {
    if (!hub.wantsConfirmed('jettons_change')) return [];
    return (await read()).filter(({ accounts }) => hub.watchesConfirmed({ accounts, traces: [] }));
  }

  return {
    async of(block) {
      try {
        return await watched(() => jettonsOfBlock(block, reader));
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        logger.debug({ err: error }, 'the index was not read for jetton wallets of signed blocks');
        return [];
      }
    },
    corrections: (blocks) => watched(() => lastFinal(blocks, reader)),
  };
}

/**
 * New states of jetton wallets in signed blocks. The index knows the wallets with their owners and masters; the block shows the balance. A wallet that
 * no block has made final is unknown, and one whose data has another layout is left out.
 * @throws StoreError
 */
async function jettonsOfBlock(block: SeenBlock, reader: StoreReader): Promise<readonly JettonChange[]> {
  const { workchain } = block.id;
  const last = lastOfAccounts(block.transactions.map(({ transaction }) => transaction));
  const byKey = new Map(last.map((one) => [hashKey(accountKey({ workchain, id: one.account })), one]));
  const wallets = await findWallets(
    reader,
    [...byKey.keys()].map((key) => Buffer.from(key, 'latin1')),
  );
  return wallets.flatMap((wallet): JettonChange[] => {
    const { lt, stateUpdate } = byKey.get(hashKey(wallet.address))!;
    const after = walletAfter(block, wallet, viewBytes(stateUpdate.newHash));
    return after === undefined ? [] : [{ ...viewJettonChange({ ...after, last_trans_lt: lt }), ...place }];
  });
}

const place = { finality: 'confirmed', position: null } as const;

async function lastFinal(blocks: readonly SeenBlock[], reader: StoreReader): Promise<readonly JettonChange[]> {
  const keys = blocks.flatMap(({ id: { workchain }, transactions }) =>
    transactions.map(({ transaction: { account } }) => accountKey({ workchain, id: account })),
  );
  const wallets = await findWallets(reader, keys);
  return wallets.map((wallet) => ({ ...viewJettonChange(wallet), position: null, isCorrection: true }));
}

/** Undefined if the block does not show the balance, or if the account is no longer that wallet. */
function walletAfter({ states, data, table }: SeenBlock, wallet: FoundWallet, hash: string): FoundWallet | undefined {
  const { code_hash: code, data_hash: dataHash } = states.get(hash) ?? {};
  if (!isEqual(code, wallet.code_hash) || dataHash === null || dataHash === undefined) return undefined;
  if (isEqual(dataHash, wallet.data_hash)) return wallet;
  const cell = data.get(hash);
  const balance = cell === undefined ? undefined : readBalance(table, cell, wallet);
  return balance === undefined ? undefined : { ...wallet, balance, data_hash: dataHash };
}

function isEqual(one: Uint8Array | null | undefined, other: Uint8Array | null): boolean {
  return one !== null && one !== undefined && other !== null && Buffer.compare(one, other) === 0;
}

/** Bits before the balance: none in the wallet of TEP-74, a status in wallets that their master governs. */
const layouts = [0, 4] as const;

/** Reads the balance that stands before the known owner and master of a wallet. */
function readBalance(table: CellTable, cell: number, wallet: FoundWallet): bigint | undefined {
  for (const skipped of layouts) {
    try {
      const slice = new CellSlice(table, cell);
      slice.skip(skipped);
      const balance = slice.coins();
      if (isAddress(slice, wallet.owner) && isAddress(slice, wallet.jetton)) return balance;
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return undefined;
}

function isAddress(slice: CellSlice, key: Uint8Array): boolean {
  const read = readMessageAddress(slice);
  return read?.kind === 'internal' && read.bitLength === 256 && isEqual(accountKey(read), key);
}
