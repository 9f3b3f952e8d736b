import { openContractCell, readSnake } from '../decode/contract-data.ts';
import { DecodeError } from '../decode/errors.ts';
import { cellOfSlice } from '../tvm/stack.ts';
import type { StackWindow } from '../tvm/stack.ts';
import type { Family } from './family.ts';
import { rawOf } from './raw-address.ts';
import { account, accountOrNothing, int, int53, slice, stackShape } from './stack-shape.ts';

const tokenName = stackShape({ name: slice });

const auctionState = stackShape({ bidder: accountOrNothing, bid: int, bidAt: int53, minBid: int, endTime: int53 });

const auctionConfig = stackShape({
  beneficiary: accountOrNothing,
  initialMinBid: int,
  maxBid: int,
  minBidStep: int,
  minExtendTime: int53,
  duration: int53,
});

const royalty = stackShape({ numerator: int53, denominator: int53, destination: account });

/** Without an auction `get_telemint_auction_state` throws. */
const NO_AUCTION = { bidder: null, bid: 0n, bidAt: 0, minBid: 0n, endTime: 0 };

/** Item of Fragment: a name or a number, with its own auction. */
export const telemintItems: Family = {
  kind: 'telemint',
  needs: ['get_telemint_token_name', 'get_telemint_auction_config', 'royalty_params'],
  asks: ['get_telemint_auction_state'],
  detect({ key, state, answers }) {
    const named = tokenName(answers('get_telemint_token_name'));
    const name = named && readText(named.name);
    const config = auctionConfig(answers('get_telemint_auction_config'));
    const fee = royalty(answers('royalty_params'));
    if (name === undefined || config === undefined || fee === undefined) return 'malformed';
    const auction = auctionState(answers('get_telemint_auction_state')) ?? NO_AUCTION;
    const details = {
      token_name: name,
      ...(auction.bidder !== null && { bidder_address: rawOf(auction.bidder) }),
      bid: String(auction.bid),
      bid_ts: String(auction.bidAt),
      min_bid: String(auction.minBid),
      end_time: auction.endTime,
      ...(config.beneficiary !== null && { beneficiary_address: rawOf(config.beneficiary) }),
      initial_min_bid: String(config.initialMinBid),
      max_bid: String(config.maxBid),
      min_bid_step: String(config.minBidStep),
      min_extend_time: String(config.minExtendTime),
      duration: String(config.duration),
      royalty_numerator: fee.numerator,
      royalty_denominator: fee.denominator,
      royalty_destination: rawOf(fee.destination),
    };
    const parties = { nft: null, nft_owner: null, marketplace: null, created_at: null };
    return { nftSale: { address: key, type: 'telemint', ...parties, details, ...state } };
  },
};

/** Most bytes of a name, which fits a message's cell. */
const NAME_BYTES_MAX = 8 * 1024;

/** Reads whole bytes over a chain of cells, without zeros, because Postgres cannot store zeros in text. */
function readText(window: StackWindow): string | undefined {
  try {
    const bytes = readSnake(openContractCell(cellOfSlice(window)), { bytesMax: NAME_BYTES_MAX });
    return bytes?.toString().replaceAll('\0', '');
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
