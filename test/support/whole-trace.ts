import { setTimeout as sleep } from 'node:timers/promises';

import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import type { Store } from '#service/store/store.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import type { ApiUnderTest } from './api.ts';
import type { ComparedTrace } from './emulated-and-real.ts';

/** A trace of v3. */
export type RealTrace = ComparedTrace & {
  readonly is_incomplete: boolean;
  readonly mc_seqno_start: string;
  readonly trace_info: { readonly trace_state: string; readonly classification_state: string };
};

type Setting = {
  readonly network: PrivateNetwork;
  /** Index that the API writes. */
  readonly store: Store;
  readonly service: Pick<ApiUnderTest, 'api' | 'key'>;
};

/** Blocks after which each trace of a test is whole. */
const BLOCKS_MAX = 40;
const LOOK_MS = 50;

/**
 * Makes blocks until the first trace of a query is whole, and waits until that trace is classified.
 * @param isWanted false for a trace of an earlier message
 */
export async function wholeTrace(
  { network, store, service }: Setting,
  query: Readonly<Record<string, string>>,
  isWanted: (trace: RealTrace) => boolean = () => true,
): Promise<RealTrace> {
  const search = new URLSearchParams({ ...query, include_actions: 'true' }).toString();
  const headers = { 'x-api-key': service.key };
  for (let block = 0; block < BLOCKS_MAX; block++) {
    await network.step();
    await untilIndexed(store, network.head().id.seqno);
    for (;;) {
      const response = await fetch(`${service.api.url}/api/v3/traces?${search}`, { headers });
      const [trace] = ((await response.json()) as { traces?: readonly RealTrace[] }).traces ?? [];
      if (trace === undefined || trace.is_incomplete || !isWanted(trace)) break;
      if (trace.trace_info.trace_state !== 'complete') break;
      if (trace.trace_info.classification_state === 'ok') return trace;
      await sleep(LOOK_MS);
    }
  }
  throw new Error(`no whole trace after ${BLOCKS_MAX} blocks`);
}
