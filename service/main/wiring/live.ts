import type { ServiceConfig } from '#service/config.ts';
import { createChainSnapshots, type ChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import { createLiveDns } from '#service/live/tokens/dns.ts';
import { createLiveFees } from '#service/live/contracts/fees.ts';
import { createLiveTokens } from '#service/live/tokens/tokens.ts';
import { createLiveGetMethods } from '#service/live/contracts/get-methods.ts';
import { createExtendedAccounts } from '#service/live/contracts/extended-accounts.ts';
import { createLiveAccounts } from '#service/live/accounts/live-accounts.ts';
import { createLiveBlocks } from '#service/live/blocks/live-blocks.ts';
import { createLiveConfiguration } from '#service/live/configuration/live-configuration.ts';
import { createLiveTransactions } from '#service/live/transactions/live-transactions.ts';
import { createLegacySend } from '#service/live/send/legacy-send.ts';
import { createLiveSend, type OnSent } from '#service/live/send/send.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { SignatureChecker } from '#service/proof/signature-checker.ts';
import type { Tvm } from '#service/tvm/tvm.ts';
import type { V2Dependencies } from '#service/v2/v2.ts';

/** Dependencies of v2, and the worlds for emulated messages. */
export type Live = V2Dependencies & { readonly worlds: ChainSnapshots };

/** Creates live answers of every family, over one pool. */
export function createLive(
  { trust, network }: Pick<ServiceConfig, 'trust' | 'network'>,
  { pool, signatures, tvm, onSent }: { pool: Pool; signatures: SignatureChecker; tvm: Tvm; onSent?: OnSent },
): Live {
  const worlds = createChainSnapshots({ trust }, { pool, tvm, now: () => performance.now() });
  const accounts = createLiveAccounts({ trust }, { pool });
  const blocks = createLiveBlocks({ pool, signatures, toUnixMs: (poolMs) => performance.timeOrigin + poolMs });
  const configuration = createLiveConfiguration({ pool });
  const send = createLiveSend({ pool, onSent });
  return {
    worlds,
    accounts,
    blocks,
    configuration,
    extended: createExtendedAccounts({ accounts, configuration }),
    transactions: createLiveTransactions({ pool, accounts, blocks }),
    send,
    legacySend: createLegacySend({ pool, accounts, send, onSent, now: () => performance.now() }),
    getMethods: createLiveGetMethods({ worlds }),
    tokens: createLiveTokens({ network }, { worlds }),
    dns: createLiveDns({ worlds }),
    fees: createLiveFees({ worlds }),
  };
}
