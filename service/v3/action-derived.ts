import type { StoredColumns } from '../actions/stored-columns.ts';
import { readComment as readCommentText } from '../actions/basic-blocks.ts';
import { tryRead } from '../actions/body.ts';
import { parseBoc } from '../decode/boc.ts';
import type { ContractSlice } from '../decode/cell-slice.ts';
import { openContractCell } from '../decode/contract-data.ts';
import { valueAt } from './action-table.ts';
import evaaAssets from './evaa-assets.json' with { type: 'json' };

/** Which network an action is of, where its tokens have other addresses elsewhere. */
export type ActionNetwork = { readonly testOnly: boolean };

type Derive = (scope: StoredColumns, network: ActionNetwork) => unknown;

/** Values of details that stand in no column as they are shown, by the names that action-details.json gives them (service/v3/README.md#details-of-actions). */
export const derived: Readonly<Record<string, Derive>> = {
  /** Clients know the first of liquid stakings by the kind alone. */
  stakingProvider: (scope) => {
    const provider = valueAt(scope, ['staking_data', 'provider']);
    return provider === 'tonstakers' ? 'liquid_staking' : provider;
  },
  nftComment: (scope) => readComment(scope)?.text,
  nftCommentIsEncrypted: (scope) => readComment(scope)?.isEncrypted,
  evaaAsset: (scope, network) => evaaAssetOf(valueAt(scope, evaaId), network)?.address,
  evaaIsKnown: (scope, network) => evaaAssetOf(valueAt(scope, evaaId), network) !== undefined,
  /** Its address where that is known; else the id as it stands. */
  evaaCollateral: (scope, network) => {
    const id = scope['asset'];
    const hex = typeof id === 'string' && /^\d+$/.test(id) ? `0x${BigInt(id).toString(16)}` : id;
    return evaaAssetOf(hex, network)?.address ?? id;
  },
  /** Pairs of two lists; none when those do not belong together. */
  claimedRewards: (scope) => {
    const jettons = listAt(scope, ['jvault_claim_data', 'claimed_jettons']);
    const amounts = listAt(scope, ['jvault_claim_data', 'claimed_amounts']);
    if (jettons.length !== amounts.length) return [];
    return jettons.map((jetton, at) => ({ jetton, amount: amounts[at] }));
  },
};

const evaaId = ['evaa_liquidate_data', 'asset_id'];

type EvaaAsset = { /** Null for TON. */ readonly address: string | null };

/** Undefined for an asset that is not known. @param id hex with `0x`, without zeros in front */
function evaaAssetOf(id: unknown, { testOnly }: ActionNetwork): EvaaAsset | undefined {
  if (typeof id !== 'string') return undefined;
  if (id === evaaAssets.ton) return { address: null };
  const known: Readonly<Record<string, string>> = testOnly ? evaaAssets.testnet : evaaAssets.mainnet;
  const address = known[id];
  return address === undefined ? undefined : { address };
}

function listAt(scope: StoredColumns, path: readonly string[]): readonly unknown[] {
  const value = valueAt(scope, path);
  return Array.isArray(value) ? value : [];
}

/** Opcodes of the payloads that say something to people. */
const commentOpcode = 0;
const encryptedCommentOpcode = 0x2167da4b;

type Comment = { readonly text: string | null; readonly isEncrypted: boolean };

/** What the forwarded payload says, in base64 where it is encrypted; undefined when there is none, or it is no BoC. */
function readComment(scope: StoredColumns): Comment | undefined {
  const payload = valueAt(scope, ['nft_transfer_data', 'forward_payload']);
  const slice = typeof payload === 'string' ? openPayload(payload) : undefined;
  if (slice === undefined) return undefined;
  if (slice === null) return { text: null, isEncrypted: false };
  const opcode = slice.remainingBits >= 32 ? slice.uint(32) : undefined;
  const isEncrypted = opcode === encryptedCommentOpcode;
  if (opcode !== commentOpcode && !isEncrypted) return { text: null, isEncrypted: false };
  const text = tryRead(() => readCommentText(slice, isEncrypted));
  return text === undefined ? { text: null, isEncrypted: false } : { text, isEncrypted };
}

/** Null for a cell that no slice opens, undefined for what is no BoC. */
function openPayload(payload: string): ContractSlice | null | undefined {
  try {
    const table = parseBoc(Buffer.from(payload, 'base64'));
    const root = table.roots[0]!;
    return table.kind(root) === 'ordinary' ? openContractCell({ table, cell: root }) : null;
  } catch {
    return undefined;
  }
}
