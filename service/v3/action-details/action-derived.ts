import type { StoredColumns } from '#service/actions/engine/stored-columns.ts';
import { readComment as readCommentText } from '#service/actions/engine/basic-blocks.ts';
import { tryRead } from '#service/actions/engine/body.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { openContractCell } from '#service/decode/contract-data.ts';
import { valueAt } from './action-table.ts';
import evaaAssets from './evaa-assets.json' with { type: 'json' };

/** Network of an action: its tokens have other addresses on the test network. */
export type ActionNetwork = { readonly testOnly: boolean };

type Derive = (scope: StoredColumns, network: ActionNetwork) => unknown;

/** Computed values of details, by the names in the types of actions (service/v3/README.md#details-of-actions). */
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
  /** Address of a known asset; else its stored id. */
  evaaCollateral: (scope, network) => {
    const id = scope['asset'];
    const hex = typeof id === 'string' && /^\d+$/.test(id) ? `0x${BigInt(id).toString(16)}` : id;
    return evaaAssetOf(hex, network)?.address ?? id;
  },
  /** Pairs of two lists; empty if the lists do not match. */
  claimedRewards: (scope) => {
    const jettons = listAt(scope, ['jvault_claim_data', 'claimed_jettons']);
    const amounts = listAt(scope, ['jvault_claim_data', 'claimed_amounts']);
    if (jettons.length !== amounts.length) return [];
    return jettons.map((jetton, at) => ({ jetton, amount: amounts[at] }));
  },
};

const evaaId = ['evaa_liquidate_data', 'asset_id'];

type EvaaAsset = { /** Null for TON. */ readonly address: string | null };

/** Undefined for an unknown asset. @param id hex with `0x`, without leading zeros */
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

/** Opcodes of payloads with text for people. */
const COMMENT_OPCODE = 0;
const encryptedCommentOpcode = 0x2167da4b;

type Comment = { readonly text: string | null; readonly isEncrypted: boolean };

/** Comment in the forwarded payload, in base64 if encrypted; undefined without a comment or for a malformed BoC. */
function readComment(scope: StoredColumns): Comment | undefined {
  const payload = valueAt(scope, ['nft_transfer_data', 'forward_payload']);
  const slice = typeof payload === 'string' ? openPayload(payload) : undefined;
  if (slice === undefined) return undefined;
  if (slice === null) return { text: null, isEncrypted: false };
  const opcode = slice.remainingBits >= 32 ? slice.uint(32) : undefined;
  const isEncrypted = opcode === encryptedCommentOpcode;
  if (opcode !== COMMENT_OPCODE && !isEncrypted) return { text: null, isEncrypted: false };
  const text = tryRead(() => readCommentText(slice, isEncrypted));
  return text === undefined ? { text: null, isEncrypted: false } : { text, isEncrypted };
}

/** Null for a cell that no slice opens, undefined for a malformed BoC. */
function openPayload(payload: string): ContractSlice | null | undefined {
  try {
    const table = parseBoc(Buffer.from(payload, 'base64'));
    const root = table.roots[0]!;
    return table.kind(root) === 'ordinary' ? openContractCell({ table, cell: root }) : null;
  } catch {
    return undefined;
  }
}
