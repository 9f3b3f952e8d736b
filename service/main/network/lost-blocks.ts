import { rmSync } from 'node:fs';

import type { Logger } from 'pino';

import type { ServiceConfig } from '#service/config.ts';
import { loadChain } from '#service/proof/trust-file.ts';
import { trustedBlocksFile } from '../wiring/pool.ts';
import type { DevNetwork } from './dev-network.ts';

/**
 * Removes the trusted key blocks when the stored network has lost one of them, as after a power failure or with an older copy. They are
 * proved again from the zerostate.
 */
export function forgetLostKeyBlocks(
  { anchors, stateDir }: Pick<ServiceConfig, 'anchors' | 'stateDir'>,
  { hasLost }: Pick<DevNetwork, 'hasLost'>,
  { logger }: { readonly logger: Logger },
): void {
  if (hasLost === undefined || stateDir === null) return;
  const file = trustedBlocksFile(stateDir);
  const { keyBlocks } = loadChain(file, { anchor: anchors.initBlock, zeroState: anchors.zeroState });
  const lost = keyBlocks.find(hasLost);
  if (lost === undefined) return;
  rmSync(file);
  logger.warn({ file, seqno: lost.seqno }, 'the stored network has lost a trusted key block: all are proved again');
}
