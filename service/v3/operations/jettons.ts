import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { list, named, object } from '#service/contract/shape.ts';
import { accountKey } from '#service/store/account-key.ts';
import { tokensOrder } from '#service/store/queries/first-seen.ts';
import {
  findJettonBurns,
  findJettonMasters,
  findJettonTransfers,
  findJettonWallets,
  jettonWalletOrder,
} from '#service/store/queries/jettons.ts';
import { transferOrder } from '#service/store/queries/transfers.ts';
import { answerAnnotations, type AnswerAnnotations } from '../annotations/answer-annotations.ts';
import {
  jettonBurn,
  jettonMaster,
  jettonTransfer,
  jettonWallet,
  viewJettonBurn,
  viewJettonMaster,
  viewJettonTransfer,
  viewJettonWallet,
} from '../views/jetton-views.ts';
import { readPage } from '../request/cursor.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { account, accounts, bool, cursorPage, LIMIT_MAX, sortIfGiven } from '../request/parameters.ts';
import { directed, keysOf, ownersOf, sideOf, transferParameters } from '../request/token-parameters.ts';

/** The operations about jettons (service/v3/README.md#jettons). */
export function jettonOperations(notes: AnswerAnnotations): readonly V3Operation[] {
  return [masters(notes), wallets(notes), transfers(notes), burns(notes)];
}

const mastersResponse = named(
  'JettonMastersResponse',
  object({ jetton_masters: list(jettonMaster, LIMIT_MAX), ...answerAnnotations }),
);

function masters(notes: AnswerAnnotations): V3Operation {
  return defineV3Operation({
    name: 'jetton/masters',
    tag: 'jettons',
    summary: 'Masters of jettons that match all filters.',
    parameters: { addresses: accounts('address'), admins: accounts('admin_address'), ...cursorPage },
    result: mastersResponse,
    flat: true,
    handle: async ({ addresses, admins, ...values }, context) => {
      const filter = { addresses: keysOf(addresses), admins: keysOf(admins) };
      const order = { list: 'jetton/masters', order: tokensOrder(filter.addresses) };
      const rows = await readPage(order, values, context, (after) =>
        findJettonMasters(context.store, filter, { ...values, after }),
      );
      const views = await mapInSlices(rows, viewJettonMaster, createTimeSlice(context.signal));
      const shown = views.flatMap(({ address, admin_address: admin }) => [address, admin]);
      return { jetton_masters: views, ...(await notes.notesOf(shown, context)) };
    },
  });
}

const walletsResponse = named(
  'JettonWalletsResponse',
  object({ jetton_wallets: list(jettonWallet, LIMIT_MAX), ...answerAnnotations }),
);

function wallets(notes: AnswerAnnotations): V3Operation {
  return defineV3Operation({
    name: 'jetton/wallets',
    tag: 'jettons',
    summary: 'Jetton wallets that match all filters; by balance when an order is given.',
    parameters: {
      addresses: accounts('address'),
      owners: accounts('owner_address'),
      jettons: accounts('jetton_address'),
      excludesEmpty: bool('exclude_zero_balance'),
      ...cursorPage,
      sort: sortIfGiven,
    },
    rule: {
      schema: {},
      check: ({ owners, jettons }) =>
        jettons.length > 1 && owners.length !== 1
          ? 'exact one owner_address required for multiple jetton_address'
          : undefined,
    },
    result: walletsResponse,
    flat: true,
    handle: async ({ addresses, owners, jettons, excludesEmpty, ...values }, context) => {
      const keys = { addresses: keysOf(addresses), owners: keysOf(owners), jettons: keysOf(jettons) };
      const order = { list: 'jetton/wallets', order: jettonWalletOrder(keys, values) };
      const rows = await readPage(order, values, context, (after) =>
        findJettonWallets(context.store, { ...keys, excludesEmpty }, { ...values, after }),
      );
      const views = await mapInSlices(rows, viewJettonWallet, createTimeSlice(context.signal));
      const shown = views.flatMap(({ address, owner, jetton }) => [address, owner, jetton]);
      return { jetton_wallets: views, ...(await notes.notesOf(shown, context)) };
    },
  });
}

const transfersResponse = named(
  'JettonTransfersResponse',
  object({ jetton_transfers: list(jettonTransfer, LIMIT_MAX), ...answerAnnotations }),
);

const ofWallets = { wallets: accounts('jetton_wallet'), master: account('jetton_master') };

function transfers(notes: AnswerAnnotations): V3Operation {
  return defineV3Operation({
    name: 'jetton/transfers',
    tag: 'jettons',
    summary: 'Transfers of jettons that match all filters, without aborted transfers.',
    parameters: { ...directed, ...ofWallets },
    result: transfersResponse,
    flat: true,
    handle: async ({ owners, legacyOwners, wallets: from, master, direction, ...values }, context) => {
      const filter = {
        ...values,
        owners: ownersOf({ owners, legacyOwners }),
        wallets: keysOf(from),
        master: master && accountKey(master),
        direction: sideOf(direction),
      };
      const order = { list: 'jetton/transfers', order: transferOrder(values, values) };
      const rows = await readPage(order, values, context, (after) =>
        findJettonTransfers(context.store, filter, { ...values, after }),
      );
      const views = await mapInSlices(rows, viewJettonTransfer, createTimeSlice(context.signal));
      const shown = views.flatMap((view) => [
        view.source,
        view.destination,
        view.source_wallet,
        view.jetton_master,
        view.response_destination,
      ]);
      return { jetton_transfers: views, ...(await notes.notesOf(shown, context)) };
    },
  });
}

const burnsResponse = named(
  'JettonBurnsResponse',
  object({ jetton_burns: list(jettonBurn, LIMIT_MAX), ...answerAnnotations }),
);

function burns(notes: AnswerAnnotations): V3Operation {
  return defineV3Operation({
    name: 'jetton/burns',
    tag: 'jettons',
    summary: 'Burns of jettons that match all filters, aborted burns too.',
    parameters: { ...transferParameters, ...ofWallets },
    result: burnsResponse,
    flat: true,
    handle: async ({ owners, legacyOwners, wallets: from, master, ...values }, context) => {
      const filter = {
        ...values,
        owners: ownersOf({ owners, legacyOwners }),
        wallets: keysOf(from),
        master: master && accountKey(master),
      };
      const order = { list: 'jetton/burns', order: transferOrder(values, values) };
      const rows = await readPage(order, values, context, (after) =>
        findJettonBurns(context.store, filter, { ...values, after }),
      );
      const views = await mapInSlices(rows, viewJettonBurn, createTimeSlice(context.signal));
      const shown = views.flatMap((view) => [
        view.owner,
        view.jetton_wallet,
        view.jetton_master,
        view.response_destination,
      ]);
      return { jetton_burns: views, ...(await notes.notesOf(shown, context)) };
    },
  });
}
