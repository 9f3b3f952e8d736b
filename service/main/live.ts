import type { ServiceConfig } from '../config.ts';
import { createContractWorlds, type ContractWorlds } from '../live/contract-world.ts';
import { createLiveDns } from '../live/dns.ts';
import { createLiveFees } from '../live/fees.ts';
import { createLiveTokens } from '../live/tokens.ts';
import { createLiveGetMethods } from '../live/get-methods.ts';
import { createExtendedAccounts } from '../live/extended-accounts.ts';
import { createLiveAccounts } from '../live/live-accounts.ts';
import { createLiveBlocks } from '../live/live-blocks.ts';
import { createLiveConfiguration } from '../live/live-configuration.ts';
import { createLiveTransactions } from '../live/live-transactions.ts';
import { createLegacySend } from '../live/legacy-send.ts';
import { createLiveSend, type OnSent } from '../live/send.ts';
import type { Pool } from '../pool/pool.ts';
import type { SignatureChecker } from '../proof/signature-checker.ts';
import type { Tvm } from '../tvm/tvm.ts';
import type { V2Dependencies } from '../v2/v2.ts';

/** Dependencies of v2, and the worlds for emulated messages. */
export type Live = V2Dependencies & { readonly worlds: ContractWorlds };

/** Creates live answers of every family, over one pool. */
export function createLive(
  { trust, network }: Pick<ServiceConfig, 'trust' | 'network'>,
  { pool, signatures, tvm, onSent }: { pool: Pool; signatures: SignatureChecker; tvm: Tvm; onSent?: OnSent },
): Live {
  const worlds = createContractWorlds({ trust }, { pool, tvm, now: () => performance.now() });
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
