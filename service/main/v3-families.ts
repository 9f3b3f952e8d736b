import type { ServiceConfig } from '../config.ts';
import type { Pending } from '../pending/pending.ts';
import type { V2Dependencies } from '../v2/v2.ts';
import { createAccountContents } from '../v3/account-contents.ts';
import { createAccountNotes } from '../v3/account-notes.ts';
import { accountStateOperations } from '../v3/account-states.ts';
import { actionOperations } from '../v3/actions.ts';
import { createAddressBooks } from '../v3/address-book.ts';
import { balanceChangeOperations } from '../v3/balance-changes.ts';
import { blockOperations } from '../v3/blocks.ts';
import { decodeOperations } from '../v3/decode.ts';
import { dnsOperations } from '../v3/dns-records.ts';
import { createKnownAccounts } from '../v3/known-accounts.ts';
import { createKnownTokens, type KnownTokensDependencies } from '../v3/known-tokens.ts';
import { messageOperations } from '../v3/messages.ts';
import { createTokenMetadata } from '../v3/metadata.ts';
import { createKeptMetrics } from '../v3/metrics.ts';
import { multisigOperations } from '../v3/multisigs.ts';
import { accountInformationOperations } from '../v3/account-information.ts';
import { feeOperations } from '../v3/fees.ts';
import { jettonOperations } from '../v3/jettons.ts';
import { nftOperations } from '../v3/nfts.ts';
import { pendingOperations } from '../v3/pending.ts';
import { runMethodOperations } from '../v3/run-get-method.ts';
import { sendOperations } from '../v3/send.ts';
import { traceOperations } from '../v3/traces.ts';
import type { V3Operation } from '../v3/operation.ts';
import { topAccountOperations } from '../v3/top-accounts.ts';
import { transactionOperations } from '../v3/transactions.ts';
import { vestingOperations } from '../v3/vestings.ts';
import { createWriters, type WritersDependencies, type WritersOptions } from '../v3/writers.ts';
import { walletStateOperations } from '../v3/wallet-states.ts';

type V3FamiliesDependencies = Pick<KnownTokensDependencies, 'wanted' | 'clock'> & Omit<WritersDependencies, 'metrics'>;

/** Creates every operation of v3, over live answers for data that the index lacks. */
export function v3Families(
  { network, cachePart = 1 }: Pick<ServiceConfig, 'network'> & Partial<WritersOptions>,
  live: V2Dependencies,
  pending: Pick<Pending, 'find'>,
  { wanted, clock, register, threads, random }: V3FamiliesDependencies,
): V3Operation[] {
  // Other networks have no established friendly form, so tools treat them like mainnet.
  const metrics = createKeptMetrics(register);
  const accounts = createKnownAccounts({ testOnly: network === 'testnet' }, { clock, metrics });
  const addressBooks = createAddressBooks({ accounts });
  const tokens = createKnownTokens({ clock, metrics, wanted });
  const tokenMetadata = createTokenMetadata({ accounts, tokens });
  const notes = createAccountNotes({ accounts, ...addressBooks, ...tokenMetadata });
  const actionNetwork = { testOnly: network === 'testnet' };
  const writers = createWriters({ cachePart }, { register, metrics, threads, random });
  const contents = createAccountContents({ accounts: live.accounts });
  return [
    ...blockOperations(),
    ...transactionOperations({ books: addressBooks, writer: writers.transactions }),
    ...messageOperations({ notes, writer: writers.messages }),
    ...addressBooks.operations,
    ...accountStateOperations({ contents, notes }),
    ...walletStateOperations({ contents, notes }),
    ...topAccountOperations(),
    ...tokenMetadata.operations,
    ...jettonOperations(notes),
    ...nftOperations(notes),
    ...traceOperations({ notes, network: actionNetwork, writer: writers.traces }),
    ...actionOperations({ notes, network: actionNetwork, writer: writers.transactions }),
    ...balanceChangeOperations(),
    ...accountInformationOperations(live.accounts),
    ...runMethodOperations(live.getMethods),
    ...feeOperations(live.fees),
    ...sendOperations(live.send),
    ...decodeOperations(),
    ...dnsOperations(addressBooks),
    ...multisigOperations(addressBooks),
    ...vestingOperations(addressBooks),
    ...pendingOperations({ pending, notes, network: actionNetwork }),
  ];
}
