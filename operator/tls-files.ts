import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';

import type { Clock } from './kubernetes/clock.ts';

/** What a listener proves itself with: PEM. */
export type KeyPair = { readonly cert: string; readonly key: string };

/** The certificate of a listener in a folder, as a Secret of type `kubernetes.io/tls` is mounted: renewed there while the listener runs. */
export type TlsFiles = {
  /** What was there when it was last looked at. */
  readonly current: () => KeyPair;
  /** Calls with each other certificate that is there later; one that cannot be read or does not fit its key is told and passed over. */
  follow(onRenewed: (pair: KeyPair) => void): void;
  close(): void;
};

/** A kubelet itself needs a minute or so to bring a changed Secret; certificates are renewed weeks before their end. */
const lookMs = 30_000;

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
    cancel = clock.after(lookMs, () => {
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
  // Throws for a key of another certificate, as half of a renewal would leave it.
  createSecureContext(pair);
  return pair;
}
