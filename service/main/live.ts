import type { ServiceConfig } from '../config.ts';
import { createLiveAccounts } from '../live/live-accounts.ts';
import { createLiveBlocks } from '../live/live-blocks.ts';
import type { Pool } from '../pool/pool.ts';
import type { SignatureChecker } from '../proof/signature-checker.ts';
import type { V2Dependencies } from '../v2/v2.ts';

/** Live answers of every family, over one pool. */
export function createLive(
  { trust }: Pick<ServiceConfig, 'trust'>,
  { pool, signatures }: { pool: Pool; signatures: SignatureChecker },
): V2Dependencies {
  return {
    accounts: createLiveAccounts({ trust }, { pool }),
    blocks: createLiveBlocks({ pool, signatures, toUnixMs: (poolMs) => performance.timeOrigin + poolMs }),
  };
}
