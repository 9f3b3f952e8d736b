import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { Classified } from '#service/actions/classify.ts';
import type { ClassifierTrace } from '#service/actions/engine/classifier-input.ts';
import { parseAddress } from '#service/decode/address.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { readChangedAccount } from '#service/interfaces/account-code.ts';
import { classifyWithLookups } from '#service/interfaces/classify-with-lookups.ts';
import { createDetector } from '#service/interfaces/detector.ts';
import type { AccountFacts } from '#service/interfaces/facts.ts';
import { createChainSnapshots, type ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { createTvm } from '#service/tvm/tvm.ts';
import { patientPool } from '../service/indexer/index-under-test.ts';
import { openPool } from '../service/pool/network.ts';

/** Looks into the contracts of a private network through its lite servers. */
export type Detection = {
  /** With accounts as the newest block has them, or as one before the trace had them when they are nothing any more. */
  classify(trace: ClassifierTrace, beforeSeqno: number): Promise<Classified>;
  close(): Promise<void>;
};

/** For a read of a machine that does much else. */
const readTimeoutMs = 20_000;

const now = (): number => performance.now();

export function openDetection(network: PrivateNetwork): Detection {
  const opening = openPool({ ...network, moveHead: () => undefined }, { tuning: patientPool });
  const { pool } = opening;
  const tvm = createTvm({ workers: 1 }, { register: new Registry(), logger: pino({ level: 'silent' }), now });
  const worlds = createChainSnapshots({ trust: 'verified' }, { pool, tvm, now });
  const detector = createDetector({ network: 'custom' }, { register: new Registry() });

  async function worldAt(seqno: number): Promise<ChainSnapshot> {
    while ((pool.head()?.block.seqno ?? 0) < seqno) await new Promise((done) => setTimeout(done, 5));
    const signal = AbortSignal.timeout(readTimeoutMs);
    return worlds.open(seqno, { deadlineMs: now() + readTimeoutMs, signal, caller: 'test' });
  }

  async function factsOf(account: string, all: readonly ChainSnapshot[]): Promise<AccountFacts> {
    const address = parseAddress(account);
    for (const world of address === undefined ? [] : all) {
      const detected = await detector.detect(world, await readChangedAccount(world, address!));
      if (detected !== undefined && Object.keys(detected.facts).length > 0) return detected.facts;
    }
    return {};
  }

  return {
    async classify(trace, beforeSeqno) {
      const all = [await worldAt(network.head().id.seqno), await worldAt(beforeSeqno)];
      return classifyWithLookups(trace, async (accounts) => {
        const found = new Map<string, AccountFacts>();
        for (const account of accounts) found.set(account, await factsOf(account, all));
        return found;
      });
    },
    async close() {
      await tvm.close();
      await opening.close();
    },
  };
}
