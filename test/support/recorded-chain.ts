import type { Chain } from '#service/devchain/chain/chain.ts';
import { loadChain } from '#service/devchain/devchain.ts';

const loading = new Map<string, Promise<Chain>>();

/** The chain of a recording, loaded once for all networks of a thread: a load takes 2 s of CPU. Networks only read it. */
export function recordedChain(recordingDir: string): Promise<Chain> {
  const found = loading.get(recordingDir) ?? loadChain(recordingDir);
  loading.set(recordingDir, found);
  return found;
}
