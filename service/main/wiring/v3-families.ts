import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import type { Pending } from '#service/pending/pending.ts';
import type { V2Dependencies } from '#service/v2/v2.ts';
import { createAccountContents } from '#service/v3/views/account-contents.ts';
import { createAnswerAnnotations, type AnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';
import { accountStateOperations } from '#service/v3/operations/account-states.ts';
import { actionOperations } from '#service/v3/operations/actions.ts';
import { createAddressBooks } from '#service/v3/annotations/address-book.ts';
import { balanceChangeOperations } from '#service/v3/operations/balance-changes.ts';
import { blockOperations } from '#service/v3/operations/blocks.ts';
import { decodeOperations } from '#service/v3/operations/decode.ts';
import { dnsOperations } from '#service/v3/operations/dns-records.ts';
import { createAccountLabelCache } from '#service/v3/annotations/account-label-cache.ts';
import { createTokenInfoCache, type TokenInfoCacheDependencies } from '#service/v3/annotations/token-info-cache.ts';
import { messageOperations } from '#service/v3/operations/messages.ts';
import { createTokenMetadata } from '#service/v3/annotations/metadata.ts';
import { cacheBytesOf } from '#service/v3/cache-bytes.ts';
import { createCacheMetrics } from '#service/v3/metrics.ts';
import { multisigOperations } from '#service/v3/operations/multisigs.ts';
import { accountInformationOperations } from '#service/v3/operations/account-information.ts';
import { feeOperations } from '#service/v3/operations/fees.ts';
import { jettonOperations } from '#service/v3/operations/jettons.ts';
import { nftOperations } from '#service/v3/operations/nfts.ts';
import { pendingOperations } from '#service/v3/operations/pending.ts';
import { runMethodOperations } from '#service/v3/operations/run-get-method.ts';
import { sendOperations } from '#service/v3/operations/send.ts';
import { traceOperations } from '#service/v3/operations/traces.ts';
import type { V3Operation } from '#service/v3/request/operation.ts';
import { topAccountOperations } from '#service/v3/operations/top-accounts.ts';
import { transactionOperations } from '#service/v3/operations/transactions.ts';
import { vestingOperations } from '#service/v3/operations/vestings.ts';
import { createRenderers, type RenderersDependencies, type RenderersOptions } from '#service/v3/rendering/renderers.ts';
import { walletStateOperations } from '#service/v3/operations/wallet-states.ts';

type V3FamiliesDependencies = Pick<TokenInfoCacheDependencies, 'wanted' | 'clock'> &
  Pick<RenderersDependencies, 'random'> &
  Partial<Pick<RenderersDependencies, 'metrics'>> & { readonly register: Registry };

/** Operations of v3, and the annotations of their answers. */
export type V3Families = { readonly operations: readonly V3Operation[]; readonly notes: AnswerAnnotations };

/** Creates every operation of v3, over live answers for data that the index lacks. */
export function v3Families(
  { network, cacheBytes = cacheBytesOf() }: Pick<ServiceConfig, 'network'> & Partial<RenderersOptions>,
  live: V2Dependencies,
  pending: Pick<Pending, 'find'>,
  { wanted, clock, register, metrics = createCacheMetrics(register), random }: V3FamiliesDependencies,
): V3Families {
  // Other networks have no established friendly form, so tools treat them like mainnet.
  const accounts = createAccountLabelCache({ testOnly: network === 'testnet', cacheBytes }, { clock, metrics });
  const addressBooks = createAddressBooks({ accounts });
  const tokens = createTokenInfoCache({ bytesMax: cacheBytes.tokens }, { clock, metrics, wanted });
  const tokenMetadata = createTokenMetadata({ accounts, tokens });
  const notes = createAnswerAnnotations({ accounts, ...addressBooks, ...tokenMetadata });
  const actionNetwork = { testOnly: network === 'testnet' };
  const writers = createRenderers({ cacheBytes }, { metrics, random });
  const contents = createAccountContents({ accounts: live.accounts });
  const operations = [
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
  return { operations, notes };
}
