import { ledger } from './0001-ledger.ts';
import { meaning } from './0002-meaning.ts';
import { messagesInOrder } from './0003-messages-in-order.ts';
import { actionsByType } from './0004-actions-by-type.ts';
import { multisigMembers } from './0005-multisig-members.ts';
import { actionsByKind } from './0006-actions-by-kind.ts';
import { vestingWhitelists } from './0007-vesting-whitelists.ts';
import { writtenTraces } from './0008-written-traces.ts';
import { tokenAccounts } from './0009-token-accounts.ts';
import { accountChanges } from './0010-account-changes.ts';
import { tokenChanges } from './0011-token-changes.ts';
import { itemsOnSale } from './0012-items-on-sale.ts';
import { globalVersions } from './0013-global-versions.ts';
import { accountEdits } from './0014-account-edits.ts';
import { returnedJettons } from './0015-returned-jettons.ts';
import { printedBodies } from './0016-printed-bodies.ts';
import type { Migration } from './migration.ts';

/** Every step, in order. */
export const migrations: readonly Migration[] = [
  ledger,
  meaning,
  messagesInOrder,
  actionsByType,
  multisigMembers,
  actionsByKind,
  vestingWhitelists,
  writtenTraces,
  tokenAccounts,
  accountChanges,
  tokenChanges,
  itemsOnSale,
  globalVersions,
  accountEdits,
  returnedJettons,
  printedBodies,
];

/** Schema version of this code. */
export const schemaVersion = migrations.length;
