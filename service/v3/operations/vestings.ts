import { viewInteger } from '#service/contract/json-integer.ts';
import { list, named, object, type Infer } from '#service/contract/shape.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { VestingContractRow } from '#service/store/classification-tables.ts';
import { seenOrder } from '#service/store/queries/first-seen.ts';
import { findVestings } from '#service/store/queries/vestings.ts';
import { addressBook, type AddressBooks } from '../annotations/address-book.ts';
import { openCursor, announceNextPage } from '../request/cursor.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { accounts, bool, cursorPage, LIMIT_MAX } from '../request/parameters.ts';
import { intString, longInteger, orNull, rawAddress, viewAccountKey } from '../request/scalars.ts';

const vestingInfo = named(
  'VestingInfo',
  object({
    address: orNull(rawAddress),
    start_time: orNull(longInteger),
    total_duration: orNull(longInteger),
    unlock_period: orNull(longInteger),
    cliff_duration: orNull(longInteger),
    sender_address: orNull(rawAddress),
    owner_address: orNull(rawAddress),
    total_amount: orNull(intString),
    whitelist: list(rawAddress),
  }),
);

const response = named(
  'VestingContractsResponse',
  object({ vesting_contracts: list(vestingInfo, LIMIT_MAX), address_book: addressBook }),
);

/** Vesting contracts (service/v3/README.md#vesting). */
export function vestingOperations(addressBooks: Pick<AddressBooks, 'bookOf'>): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'vesting',
      tag: 'vesting',
      summary: 'Vesting contracts by address, or by a wallet that sends to them, owns them or is on their whitelist.',
      parameters: {
        addresses: accounts('contract_address'),
        wallets: accounts('wallet_address'),
        inWhitelist: bool('check_whitelist'),
        ...cursorPage,
      },
      rule: {
        schema: {},
        check: ({ addresses, wallets }) => {
          if (addresses.length === 0 && wallets.length === 0) {
            return 'at least one of contract_address or wallet_address is required';
          }
          const both = addresses.length > 0 && wallets.length > 0;
          return both ? 'only one of contract_address or wallet_address should be specified' : undefined;
        },
      },
      result: response,
      handle: async ({ addresses, wallets, inWhitelist, ...part }, context) => {
        const filter = { addresses: addresses.map(accountKey), wallets: wallets.map(accountKey), inWhitelist };
        const listOrder = { list: 'vesting', order: seenOrder('asc') };
        const after = openCursor(listOrder, part);
        const rows = await findVestings(context.store, filter, { ...part, after });
        announceNextPage(listOrder, rows, part.limit, context);
        const contracts = rows.map(viewVesting);
        return {
          vesting_contracts: contracts,
          address_book: await addressBooks.bookOf(contracts.flatMap(accountsOf), context),
        };
      },
    }),
  ];
}

function viewVesting(row: VestingContractRow): Infer<typeof vestingInfo> {
  return {
    address: viewAccountKey(row.address),
    start_time: viewInteger(row.start_time),
    total_duration: viewInteger(row.total_duration),
    unlock_period: viewInteger(row.unlock_period),
    cliff_duration: viewInteger(row.cliff_duration),
    sender_address: viewAccountKey(row.sender),
    owner_address: viewAccountKey(row.owner),
    total_amount: row.total_amount.toString(),
    whitelist: row.whitelist.map(viewAccountKey),
  };
}

function accountsOf(contract: Infer<typeof vestingInfo>): (string | null)[] {
  return [contract.address, contract.sender_address, contract.owner_address, ...contract.whitelist];
}
