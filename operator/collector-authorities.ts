import { readFileSync } from 'node:fs';

import type { Clock } from './kubernetes/clock.ts';

/** A kubelet itself needs a minute or so to bring a changed file. */
const LOOK_MS = 30_000;

/**
 * Reads the authorities of the collector's certificate from a mounted file, now and every 30 s.
 *
 * @param onChange called with the PEM text now, and with each other text later
 * @returns a function that ends the reads
 * @throws Error where the file cannot be read now; a later failure goes to `onFailure`
 */
export function followAuthorities(
  file: string,
  {
    clock,
    onChange,
    onFailure,
  }: {
    readonly clock: Pick<Clock, 'after'>;
    readonly onChange: (pem: string) => void;
    readonly onFailure: (error: unknown) => void;
  },
): () => void {
  let current = readFileSync(file, 'utf8');
  onChange(current);
  let cancel: () => void;
  const look = (): void => {
    try {
      const found = readFileSync(file, 'utf8');
      if (found !== current) onChange((current = found));
    } catch (error) {
      onFailure(error);
    }
    cancel = clock.after(LOOK_MS, look);
  };
  cancel = clock.after(LOOK_MS, look);
  return () => cancel();
}
