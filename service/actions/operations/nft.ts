import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { RawCell } from '#service/decode/messages/decoded.ts';
import { callOf, deploymentsOf, tonTransferOf } from '../engine/basic-blocks.ts';
import { firstNode, isAborted, type TraceFragment } from '../engine/trace-fragment.ts';
import {
  bocOf,
  body,
  cellBoc,
  coins,
  fields,
  maybeAddress,
  maybeCell,
  peek,
  rest,
  tryRead,
  uint256,
  uint32,
  uint64,
} from '../engine/body.ts';
import type { ActionData } from '../engine/columns.ts';
import type { NftItemInfo } from '../engine/interfaces.ts';
import type { Matcher } from '../engine/matcher.ts';
import { as, built, call, first, followedBy, maybe, withoutExcesses, type Context } from '../engine/pattern.ts';
import { innerCall } from './jettons.ts';
import { nftTypes } from './nft-types.ts';
import type { Family } from '../engine/family.ts';

// NFT items (TEP-62): mints, transfers, and what was paid for them.

export const nftTransferType = 'nft_transfer';

/** Data of a transfer that other families read. */
export type NftTransfer = {
  readonly item: string;
  readonly info: NftItemInfo;
  readonly oldOwner: string | null;
  readonly newOwner: string | null;
  readonly sale: Sale | undefined;
  readonly values: TransferValues;
};

export function nftTransferOf(block: TraceFragment | undefined): NftTransfer | undefined {
  return block?.type === nftTransferType ? (block.data as NftTransfer) : undefined;
}

const nftPurchaseType = 'nft_purchase';

/** The transfer that a purchase is made of. */
export function nftPurchaseOf(block: TraceFragment | undefined): NftTransfer | undefined {
  return block?.type === nftPurchaseType ? (block.data as NftTransfer) : undefined;
}

/** Price and receiver of a purchase. */
type Sale = {
  readonly price: bigint | null;
  readonly marketplace: 'getgems' | 'fragment';
  readonly marketplaceAddress: string | null;
  /** Owner of the item before the sale's contract. */
  readonly realOwner: string | null;
};

type TransferValues = {
  readonly query_id: bigint;
  readonly custom_payload: string | null;
  readonly forward_payload: string | null;
  readonly forward_amount: bigint | null;
  readonly response_destination: string | null;
};

type Payout = {
  readonly amount: bigint | null;
  readonly comment?: string | null;
  readonly encrypted?: boolean | null;
  /** The comment is base64. */
  readonly encoded?: boolean | null;
  readonly royalty?: bigint | null;
};

/** Values of a transfer and of its payment. Values that an action lacks are null. */
export function transferValues(values: ActionData = {}): ActionData {
  return {
    nft_transfer_data: {
      is_purchase: null,
      price: null,
      query_id: null,
      custom_payload: null,
      forward_payload: null,
      forward_amount: null,
      response_destination: null,
      nft_item_index: null,
      marketplace: null,
      real_prev_owner: null,
      marketplace_address: null,
      payout_amount: null,
      payout_comment_encrypted: null,
      payout_comment_encoded: null,
      payout_comment: null,
      royalty_amount: null,
      ...values,
    },
  };
}

/** The group of values that transfers and purchases share. */
function transferData(
  info: NftItemInfo,
  values: TransferValues,
  sale: Sale | undefined,
  payout: Payout = { amount: null },
): ActionData {
  return transferValues({
    ...values,
    is_purchase: sale !== undefined,
    price: sale?.price ?? null,
    nft_item_index: info.index,
    marketplace: sale?.marketplace ?? null,
    real_prev_owner: sale?.realOwner ?? null,
    marketplace_address: sale?.marketplaceAddress ?? null,
    payout_amount: payout.amount,
    payout_comment_encrypted: payout.encrypted ?? null,
    payout_comment_encoded: payout.encoded ?? null,
    payout_comment: payout.comment ?? null,
    royalty_amount: payout.royalty ?? null,
  });
}

/** Values of a listing; those of another kind of listing are null. */
export function listingData(values: ActionData = {}): ActionData {
  return {
    nft_listing_data: {
      nft_item_index: null,
      full_price: null,
      marketplace_fee: null,
      royalty_amount: null,
      mp_fee_factor: null,
      mp_fee_base: null,
      royalty_fee_base: null,
      max_bid: null,
      min_bid: null,
      marketplace_fee_address: null,
      royalty_address: null,
      marketplace: null,
      ...values,
    },
  };
}

/** The only contract that a block deploys, if it is a known item. */
function mintedItem(
  block: TraceFragment,
  { interfaces }: Context,
): { readonly item: string; readonly info: NftItemInfo } | undefined {
  const deployments = block.type === 'nft_mint' ? [] : block.parts.flatMap(deploymentsOf);
  // A log names no receiver. The account that wrote the log counts.
  const item = deployments.length === 1 ? firstNode(deployments[0]!).transaction.account : null;
  const info = item ? interfaces.nftItem(item) : undefined;
  return item && info ? { item, info } : undefined;
}

const mint: Matcher<Type> = {
  pattern: { test: (block, context) => mintedItem(block, context) !== undefined },
  build(root, _found, context) {
    const { item, info } = mintedItem(root, context)!;
    const message = (callOf(root) ?? tonTransferOf(root))?.message;
    return {
      type: 'nft_mint',
      columns: {
        source: message?.source ?? null,
        destination: item,
        asset: info.collection,
        assetSecondary: item,
        opcode: message?.opcode ?? null,
        data: { nft_mint_data: { nft_item_index: info.index } },
      },
    };
  },
};

const transferBody = body({
  queryId: uint64,
  newOwner: maybeAddress,
  responseDestination: maybeAddress,
  customPayload: maybeCell,
  forwardAmount: coins,
  payload: (slice) => (slice.remainingBits === 0 ? null : (maybeCell(slice) ?? new RawCell(slice.clone()))),
});

const fragmentBid = 0x38127de1;
const bidBody = fields({ opcode: uint32, amount: coins, at: uint32 });

const assignedBody = body({
  queryId: uint64,
  previous: maybeAddress,
  payload: (slice) => tryRead(() => assignedPayload(slice)) ?? null,
});

/** Null when it begins as a bid and is none. */
function assignedPayload(slice: ContractSlice): ContractSlice | null {
  const found = slice.bit() ? slice.refSlice() : rest(slice);
  return peek(found, uint32) === fragmentBid && peek(found, bidBody) === undefined ? null : found;
}

const assignedOpcode = 0x05138d91;
const payoutOpcode = 0x370fec51;

const text = (slice: ContractSlice | null): string | null => (slice === null ? null : bocOf(slice));

/** Block before, if it bought the item: a payment into a sale by the new owner, or any block at an auction. */
function saleBefore(
  previous: TraceFragment | undefined,
  item: string,
  newOwner: string | null,
  { interfaces }: Context,
): Sale | undefined {
  const payment = previous && tonTransferOf(previous);
  const place = (payment ?? (previous && callOf(previous)))?.message.destination ?? '';
  const sale = payment?.message.source === newOwner ? interfaces.nftSale(place) : undefined;
  if (sale !== undefined && sale.nft === item && sale.nftOwner !== newOwner) {
    return {
      price: sale.fullPrice,
      marketplace: 'getgems',
      marketplaceAddress: sale.marketplace,
      realOwner: sale.nftOwner,
    };
  }
  const auction = interfaces.nftAuction(place);
  if (auction === undefined || auction.nft !== item || auction.nftOwner === newOwner) return undefined;
  const { lastBid: price, marketplace: marketplaceAddress, nftOwner: realOwner } = auction;
  return { price, marketplace: 'getgems', marketplaceAddress, realOwner };
}

const endsAuction = (block: TraceFragment): boolean => ['finish', 'stop'].includes(tonTransferOf(block)?.comment ?? '');

/** A payment, or a message from outside, that an item changes hands for. */
const isPayment = (block: TraceFragment): boolean =>
  tonTransferOf(block) !== undefined || callOf(block)?.message.source === null;

const transfer: Matcher<Type> = {
  pattern: followedBy(call(0x5fcc3d14), maybe(first(as('assigned', call(assignedOpcode)), call(0xd53276db)))),
  build(root, found, context) {
    const { message, source, destination: item } = innerCall(root);
    const info = context.interfaces.nftItem(item);
    if (info === undefined) return undefined;
    const read = transferBody(message);
    if (read.newOwner === null) return undefined;
    const assigned = found.one('assigned');
    const oldOwner = assigned === undefined ? source : assignedBody(innerCall(assigned).message).previous;
    const sale = saleBefore(root.previous, item, read.newOwner, context);
    const payment = sale === undefined ? undefined : root.previous;
    // An order to end an auction stays an action of its own.
    const isPaid = payment !== undefined && isPayment(payment) && !endsAuction(payment);
    const values = {
      query_id: read.queryId,
      custom_payload: read.customPayload === null ? null : cellBoc(read.customPayload),
      forward_payload: read.payload === null ? null : cellBoc(read.payload),
      forward_amount: read.forwardAmount,
      response_destination: read.responseDestination,
    };
    return {
      type: nftTransferType,
      columns: {
        source: oldOwner,
        destination: read.newOwner,
        asset: info.collection,
        assetSecondary: item,
        data: { ...transferData(info, values, sale), ...listingData() },
      },
      data: { item, info, oldOwner, newOwner: read.newOwner, sale, values } satisfies NftTransfer,
      failed: isAborted(root),
      ...(isPaid && { also: [payment] }),
    };
  },
};

const fragmentMint = 0x299a3e15;
/** Receiver of a payment. */
const to = (block: TraceFragment | undefined): string | null => block?.columns.destination ?? null;

function soldAtFragment({ nft_transfer_data: values, ...others }: ActionData): ActionData {
  return { ...others, nft_transfer_data: { ...(values as ActionData), marketplace: 'fragment' } };
}

/** An item notifies its new owner without an order: it was bought at Fragment, minted, or ended its own auction. */
const assignment: Matcher<Type> = {
  pattern: call(assignedOpcode),
  build(root, _found, { interfaces }) {
    const { message, source: item, destination } = innerCall(root);
    const info = interfaces.nftItem(item);
    if (info === undefined) return undefined;
    const { queryId, previous, payload } = assignedBody(message);
    const isBid = payload !== null && peek(payload, uint32) === fragmentBid;
    const before = root.previous;
    const isMint = before?.type === 'nft_mint' || (before && callOf(before)?.opcode) === fragmentMint;
    const isPurchase = isBid && !isMint;
    const price = isPurchase ? bidBody(payload.clone()).amount : null;
    const sale: Sale | undefined = isPurchase
      ? { price, marketplace: 'fragment', marketplaceAddress: null, realOwner: null }
      : undefined;
    const payment = isPurchase && before !== undefined && isPayment(before) ? before : undefined;
    const payouts = (payment?.next ?? []).filter((next) => callOf(next)?.opcode === payoutOpcode);
    const [royalty, paid] = payouts.length > 1 ? payouts : [undefined, payouts[0]];
    const values = {
      query_id: queryId,
      custom_payload: null,
      forward_payload: text(payload),
      forward_amount: null,
      response_destination: null,
    };
    const transferColumns = transferData(info, values, sale, {
      amount: paid?.columns.value ?? null,
      royalty: royalty?.columns.value ?? null,
    });
    return {
      type: nftTransferType,
      columns: {
        source: previous,
        destination,
        asset: info.collection,
        assetSecondary: item,
        data: {
          // Includes a mint.
          ...(isBid ? soldAtFragment(transferColumns) : transferColumns),
          ...listingData({ marketplace_fee_address: to(paid), royalty_address: to(royalty) }),
        },
      },
      data: { item, info, oldOwner: previous, newOwner: destination, sale, values } satisfies NftTransfer,
      ...(payment !== undefined && { also: [payment, ...payouts] }),
    };
  },
};

/** A purchase with what its seller was paid. */
const purchase: Matcher<Type> = {
  pattern: built(nftTransferType, (block) => nftTransferOf(block)!.sale?.marketplace === 'getgems'),
  build(root) {
    const { info, sale, values } = nftTransferOf(root)!;
    // The block that ordered the contract to end is no part of the transfer. The blocks after that order are no part either.
    const { previous } = root;
    const after = previous !== undefined && endsAuction(previous) ? previous.next : root.next;
    const paid = after.find(
      (next) => tonTransferOf(next) !== undefined && next.columns.destination === sale!.realOwner,
    );
    if (paid === undefined) return undefined;
    const { comment, encrypted } = tonTransferOf(paid)!;
    const { source = null, destination = null, asset = null, assetSecondary = null } = root.columns;
    return {
      type: nftPurchaseType,
      columns: {
        source,
        destination,
        asset,
        assetSecondary,
        data: transferData(info, values, sale, {
          amount: paid.columns.value ?? null,
          comment,
          encrypted,
          encoded: encrypted && comment !== null,
        }),
      },
      data: root.data,
      also: [paid],
    };
  },
};

const reportBody = body({ queryId: uint64, index: uint256, collection: maybeAddress });

const discovery: Matcher<Type> = {
  pattern: followedBy(call(0x2fcb26a2), as('report', withoutExcesses(call(0x8b771735)))),
  build(root, found) {
    const { source, destination: item } = innerCall(root);
    const { index, collection } = reportBody(innerCall(found.one('report')!).message);
    return {
      type: 'nft_discovery',
      columns: {
        source,
        asset: collection,
        assetSecondary: item,
        data: transferValues({ nft_item_index: index }),
      },
      failed: root.failed,
    };
  },
};

type Type = keyof typeof nftTypes;

/** Actions of NFT items. */
export const nft = { types: nftTypes, matchers: { mint, transfer, assignment, purchase, discovery } } satisfies Family;
