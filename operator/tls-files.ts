import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';

import type { Clock } from './kubernetes/clock.ts';

/** Certificate and private key of a listener: PEM. */
type KeyPair = { readonly cert: string; readonly key: string };

/**
 * Certificate of a listener in a folder, as Kubernetes mounts a Secret of type `kubernetes.io/tls`. The files may change while the listener
 * runs.
 */
export type TlsFiles = {
  /** Certificate at the last reading. */
  readonly current: () => KeyPair;
  /** Calls back with each new certificate. An unreadable certificate, or a certificate that does not fit its key, is logged and skipped. */
  follow(onRenewed: (pair: KeyPair) => void): void;
  close(): void;
};

/** A kubelet itself needs a minute or so to bring a changed Secret; certificates are renewed weeks before their end. */
const LOOK_MS = 30_000;

/** @throws Error there is no certificate with its key in the folder */
export function createTlsFiles(
  folder: string,
  { clock, onFailure }: { readonly clock: Pick<Clock, 'after'>; readonly onFailure: (error: unknown) => void },
): TlsFiles {
  let current = readPair(folder);
  let cancel: (() => void) | undefined;
  const look = (onRenewed: (pair: KeyPair) => void): void => {
    try {
      const found = readPair(folder);
      if (found.cert !== current.cert || found.key !== current.key) {
        current = found;
        onRenewed(found);
      }
    } catch (error) {
      onFailure(error);
    }
  };
  const follow = (onRenewed: (pair: KeyPair) => void): void => {
    cancel = clock.after(LOOK_MS, () => {
      look(onRenewed);
      follow(onRenewed);
    });
  };
  return { current: () => current, follow, close: () => cancel?.() };
}

function readPair(folder: string): KeyPair {
  const pair = {
    cert: readFileSync(join(folder, 'tls.crt'), 'utf8'),
    key: readFileSync(join(folder, 'tls.key'), 'utf8'),
  };
  // Throws for a key of another certificate, such as in half of a renewal.
  createSecureContext(pair);
  return pair;
}
