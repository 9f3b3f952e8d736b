import type { LiveAccounts } from '../live/accounts/accounts.ts';
import type { LiveDns } from '../live/tokens/dns.ts';
import type { LiveFees } from '../live/contracts/fees.ts';
import type { LiveGetMethods } from '../live/contracts/get-methods.ts';
import type { LiveTokens } from '../live/tokens/tokens.ts';
import type { LiveBlocks } from '../live/blocks/blocks.ts';
import type { LiveExtendedAccounts } from '../live/contracts/extended-accounts.ts';
import type { LiveConfiguration } from '../live/configuration/configuration.ts';
import type { LegacySend } from '../live/send/legacy-send.ts';
import type { LiveSend } from '../live/send/send.ts';
import type { LiveTransactions } from '../live/transactions/transactions.ts';
import { accountOperations } from './accounts.ts';
import { addressOperations } from './addresses.ts';
import { blockTransactionOperations } from './block-transactions.ts';
import { tagBlockIds, type BlockIdTag } from './block-id-tag.ts';
import { blockOperations } from './blocks.ts';
import { configurationOperations } from './configuration.ts';
import { hashOperations } from './hashes.ts';
import { legacyOperations } from './legacy.ts';
import { dnsOperations } from './dns.ts';
import { feeOperations } from './fees.ts';
import { runMethodOperations } from './run-method.ts';
import { tokenOperations } from './tokens.ts';
import type { Operation } from '../contract/operation.ts';
import { sendOperations } from './send.ts';
import { transactionOperations } from './transactions.ts';

/** The v2 contract over live answers: a table of operations, no transport. */
export type V2 = {
  /** `2.2.N`, for `X-API-Version` and the document (service/v2/README.md#version). */
  readonly version: string;
  /** Each operation once, in the order of the document. */
  readonly operations: readonly Operation[];
  /** Finds by name or alias, case-sensitive; undefined when there is none. */
  readonly find: (name: string) => Operation | undefined;
};

export type V2Options = {
  /** `N` of the version: counts releases. */
  readonly release: number;
  /** Default `ton.blockIdExt`. */
  readonly blockIdTag?: BlockIdTag;
  /** Serve legacy operations too (service/v2/README.md#legacy-operations); default false. */
  readonly legacyOperations?: boolean;
  /** Changes how operations run. */
  readonly around?: (operation: Operation) => Operation;
};

export type V2Dependencies = {
  readonly accounts: LiveAccounts;
  readonly extended: LiveExtendedAccounts;
  readonly blocks: LiveBlocks;
  readonly configuration: LiveConfiguration;
  readonly transactions: LiveTransactions;
  readonly send: LiveSend;
  readonly legacySend: LegacySend;
  readonly getMethods: LiveGetMethods;
  readonly tokens: LiveTokens;
  readonly dns: LiveDns;
  readonly fees: LiveFees;
};

/** Builds the table. */
export function createV2(options: V2Options, dependencies: V2Dependencies): V2 {
  const { around = (operation) => operation } = options;
  const operations = [
    ...accountOperations(dependencies.accounts, dependencies.extended),
    ...blockOperations(dependencies.accounts, dependencies.blocks),
    ...blockTransactionOperations(dependencies.transactions),
    ...transactionOperations(dependencies.transactions),
    ...sendOperations(dependencies.send),
    ...configurationOperations(dependencies.configuration),
    ...addressOperations(),
    ...hashOperations(),
    ...runMethodOperations(dependencies.getMethods),
    ...tokenOperations(dependencies.tokens),
    ...dnsOperations(dependencies.dns),
    ...feeOperations(dependencies.fees),
    ...(options.legacyOperations === true ? legacyOperations(dependencies) : []),
  ].map((operation) => around(tagBlockIds(operation, options.blockIdTag ?? 'ton.blockIdExt')));
  const byName = new Map(
    operations.flatMap((operation) => [operation.name, ...operation.aliases].map((name) => [name, operation] as const)),
  );
  return { version: `2.2.${options.release}`, operations, find: (name) => byName.get(name) };
}
