import type { LiteServerStatus } from '../pool/member-status.ts';
import type { Pool } from '../pool/pool.ts';
import { LiveError } from './errors.ts';

/** A lite server with the masterchain from this block on is archival (service/v2/README.md#archival-reads). */
const ARCHIVE_SEQNO = 3;

/**
 * Requires that an archival lite server may serve history.
 * @throws LiveError `no_archive` when every lite server in use lacks the beginning. A lite server of unknown depth may have it.
 * With no lite server in use the read itself fails.
 */
export function requireArchive(pool: Pick<Pool, 'status'>): void {
  const inUse = pool.status().filter(({ phase, cordoned }) => phase === 'in' && !cordoned);
  if (inUse.length === 0 || inUse.some(mayBeArchival)) return;
  throw new LiveError('no_archive', 'no workers available (archival=1 mode=Single)');
}

function mayBeArchival({ depth: { masterchainBlock } }: LiteServerStatus): boolean {
  return masterchainBlock === undefined || masterchainBlock.masterchain <= ARCHIVE_SEQNO;
}
