import type { LiteServerStatus, Pool } from '../pool/pool.ts';
import { LiveError } from './errors.ts';

/** A lite server with the masterchain from this block on is archival (service/v2/README.md#archival-reads). */
const ARCHIVE_SEQNO = 3;

/**
 * That history may be asked of an archival lite server.
 * @throws LiveError `no_archive` when every lite server in use is known to lack the beginning. One whose depth is not found out yet may
 *   have it, and with no lite server in use the read itself says so.
 */
export function requireArchive(pool: Pick<Pool, 'status'>): void {
  const inUse = pool.status().filter(({ phase, cordoned }) => phase === 'in' && !cordoned);
  if (inUse.length === 0 || inUse.some(mayBeArchival)) return;
  throw new LiveError('no_archive', 'no workers available (archival=1 mode=Single)');
}

function mayBeArchival({ depth: { masterchainBlock } }: LiteServerStatus): boolean {
  return masterchainBlock === undefined || masterchainBlock.masterchain <= ARCHIVE_SEQNO;
}
