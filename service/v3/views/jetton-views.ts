import { list, named, object, optional, type Infer } from '#service/contract/shape.ts';
import type { jettonBurns, JettonMasterRow, jettonTransfers } from '#service/store/classification-tables.ts';
import type { FoundJettonWallet } from '#service/store/queries/jettons.ts';
import type { FoundTransfer } from '#service/store/queries/transfers.ts';
import {
  anyText,
  flag,
  hash,
  integer,
  intString,
  orNull,
  rawAddress,
  viewAccountKey,
  viewBytes,
  viewBytesOrNull,
} from '../request/scalars.ts';
import {
  content,
  contractState,
  forwarded,
  tokenTransaction,
  viewContractState,
  viewForwarded,
  viewKeyOrNone,
  viewKeyOrNull,
  viewTokenTransaction,
} from './token-views.ts';

export const jettonMaster = named(
  'JettonMaster',
  object({
    address: rawAddress,
    total_supply: intString,
    mintable: flag,
    admin_address: orNull(rawAddress),
    jetton_content: orNull(content),
    jetton_wallet_code_hash: hash,
    ...contractState,
  }),
);

export function viewJettonMaster(row: JettonMasterRow): Infer<typeof jettonMaster> {
  return {
    address: viewAccountKey(row.address),
    total_supply: row.total_supply.toString(),
    mintable: row.mintable,
    admin_address: viewKeyOrNull(row.admin),
    jetton_content: row.content,
    jetton_wallet_code_hash: viewBytes(row.wallet_code_hash),
    ...viewContractState(row),
  };
}

const mintlessInfo = named(
  'JettonWalletMintlessInfo',
  object({
    amount: orNull(intString),
    start_from: orNull(integer),
    expire_at: orNull(integer),
    custom_payload_api_uri: orNull(list(anyText)),
  }),
);

export const jettonWallet = named(
  'JettonWallet',
  object({
    address: rawAddress,
    balance: intString,
    owner: rawAddress,
    jetton: rawAddress,
    ...contractState,
    code_hash: orNull(hash),
    data_hash: orNull(hash),
    mintless_info: optional(mintlessInfo),
  }),
);

export function viewJettonWallet(row: FoundJettonWallet): Infer<typeof jettonWallet> {
  return {
    address: viewAccountKey(row.address),
    balance: row.balance.toString(),
    owner: viewAccountKey(row.owner),
    jetton: viewAccountKey(row.jetton),
    ...viewContractState(row),
    code_hash: viewBytesOrNull(row.code_hash),
    data_hash: viewBytesOrNull(row.data_hash),
    ...(row.mintless_is_claimed === false && { mintless_info: viewMintless(row.payload_apis) }),
  };
}

/** Only the jetton's own service knows the amounts and times: its metadata names the service (TEP-177). */
function viewMintless(apis: unknown): Infer<typeof mintlessInfo> {
  const uris = [apis].flat().filter((uri) => typeof uri === 'string');
  return {
    amount: null,
    start_from: null,
    expire_at: null,
    custom_payload_api_uri: uris.length === 0 ? null : uris,
  };
}

export const jettonTransfer = named(
  'JettonTransfer',
  object({
    source: rawAddress,
    destination: rawAddress,
    amount: intString,
    source_wallet: rawAddress,
    jetton_master: rawAddress,
    ...tokenTransaction,
    forward_ton_amount: orNull(intString),
    ...forwarded,
  }),
);

export function viewJettonTransfer(row: FoundTransfer<typeof jettonTransfers.columns>): Infer<typeof jettonTransfer> {
  return {
    source: viewAccountKey(row.source),
    destination: viewKeyOrNone(row.destination),
    amount: row.amount.toString(),
    source_wallet: viewAccountKey(row.jetton_wallet),
    jetton_master: viewAccountKey(row.jetton_master),
    ...viewTokenTransaction(row),
    forward_ton_amount: row.forward_ton_amount?.toString() ?? null,
    ...viewForwarded(row.forward_payload),
  };
}

export const jettonBurn = named(
  'JettonBurn',
  object({
    owner: rawAddress,
    jetton_wallet: rawAddress,
    jetton_master: rawAddress,
    amount: intString,
    ...tokenTransaction,
  }),
);

export function viewJettonBurn(row: FoundTransfer<typeof jettonBurns.columns>): Infer<typeof jettonBurn> {
  return {
    owner: viewAccountKey(row.owner),
    jetton_wallet: viewAccountKey(row.jetton_wallet),
    jetton_master: viewAccountKey(row.jetton_master),
    amount: row.amount.toString(),
    ...viewTokenTransaction(row),
  };
}
