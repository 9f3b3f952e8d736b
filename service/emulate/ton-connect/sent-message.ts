import { BitWriter } from '#service/decode/bit-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { ContractCell } from '#service/decode/contract-data.ts';
import { storeExtraCurrencies, writeCurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import type { ExtraCurrency } from '#service/decode/tlb/currency-collection.ts';
import { writeStandardAddress } from '#service/decode/tlb/message-address.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';

/** Message that a request asks a wallet to send. */
export type SentMessage = {
  /** Account in a workchain of 8 bits. */
  readonly destination: AccountId;
  readonly bounce: boolean;
  /** Nanotons, below 2^120. */
  readonly amount: bigint;
  readonly extraCurrencies: readonly ExtraCurrency[];
  readonly payload: ContractCell | undefined;
  readonly stateInit: ContractCell | undefined;
};

/** Mode of each message: fees are paid separately, and a message that cannot be sent does not stop the others. */
export const SEND_MODE = 3;

/** Puts the message into the store in the form in which wallets sign messages: without source, time and fees. Body and state are references. */
export function storeSentMessage(store: CellStore, message: SentMessage): number {
  const { destination, bounce, amount, extraCurrencies, payload, stateInit } = message;
  const writer = new BitWriter();
  // `int_msg_info$0 ihr_disabled:Bool bounce:Bool bounced:Bool src:addr_none$00`.
  writer.bit(false).bit(true).bit(bounce).bit(false).uint(0, 2);
  writeStandardAddress(writer, destination);
  writeCurrencyCollection(writer, { grams: amount, extra: storeExtraCurrencies(store, extraCurrencies) });
  // `extra_flags:(VarUInteger 16) fwd_fee:Grams created_lt:uint64 created_at:uint32`.
  writer.coins(0n).coins(0n).int(0n, 64).uint(0, 32);
  // `init:(Maybe (Either StateInit ^StateInit)) body:(Either X ^X)`.
  writer.bit(stateInit !== undefined);
  if (stateInit !== undefined) writer.bit(true).ref(store.import(stateInit.table, stateInit.cell));
  return writer.maybeRef(payload && store.import(payload.table, payload.cell)).finish(store);
}
