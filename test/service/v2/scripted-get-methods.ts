import type { MethodCall } from '#service/live/contracts/chain-snapshot.ts';
import type { LiveGetMethods, LiveMethodRun } from '#service/live/contracts/get-methods.ts';
import { bytes32, masterchainBlock } from './scripted-accounts.ts';

export type MethodRead = MethodCall & { readonly seqno: number | undefined };

/** A run that ended well and left nothing. */
export function methodRun(overrides: Partial<LiveMethodRun> = {}): LiveMethodRun {
  return {
    exitCode: 0,
    gasUsed: 882n,
    stack: [],
    masterchainBlock: masterchainBlock(1000),
    lastTransaction: { lt: 43_050_079_000_003n, hash: bytes32(0x67) },
    ...overrides,
  };
}

/** Runs by script and remembers what was asked. */
export function scriptGetMethods(
  run: (read: MethodRead) => LiveMethodRun = () => methodRun(),
): LiveGetMethods & { readonly reads: MethodRead[] } {
  const reads: MethodRead[] = [];
  return {
    reads,
    async runMethod(call, seqno) {
      reads.push({ ...call, seqno });
      return { value: run({ ...call, seqno }), liteServers: [4], cached: false };
    },
  };
}
