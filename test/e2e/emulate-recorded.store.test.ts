import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import { openEmulateClient, type EmulateClient } from '#test/support/emulate-client.ts';
import { differencesOf, type ComparedTrace } from '#test/support/emulated-and-real.ts';
import { startV3UnderTest, type V3UnderTest } from '#test/support/v3-service.ts';
import { countOf } from '#test/support/volume.ts';

const every = countOf({ quick: 12, full: 1 });

/** A message from outside of the recorded chain. */
type Recorded = { readonly boc: string; readonly transaction: string; readonly mcSeqno: number };

let v3: V3UnderTest;
let client: EmulateClient;
let recorded: readonly Recorded[];

beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename, {}, createClassifiedIndex);
  client = await openEmulateClient(v3.api);
  recorded = await readRecorded();
}, 360_000);
afterAll(() => v3.close());

/** Messages from outside, in the order of the chain. */
async function readRecorded(): Promise<readonly Recorded[]> {
  const found: Recorded[] = [];
  for (const { mcSeqno, masterchain, shards } of await recordedBlocks()) {
    for (const { boc } of [masterchain, ...shards]) {
      const table = parseBoc(boc);
      for (const { cell, inMessage } of readBlockTransactions(table, table.roots[0]!)) {
        if (inMessage?.info.kind !== 'externalIn') continue;
        const message = writeBoc(table, [inMessage.cell]).toString('base64');
        found.push({ boc: message, transaction: table.hash(cell).toString('base64'), mcSeqno });
      }
    }
  }
  return found;
}

async function realTrace(hash: string): Promise<ComparedTrace> {
  const { body } = await v3.get('traces', { tx_hash: hash, include_actions: true });
  const { traces } = body as { traces: readonly ComparedTrace[] };
  return traces[0]!;
}

/** Code of DNS items, whose data has the time of the last payment. */
const DOMAIN_CODE = 'OMTnkFYurzyujR7g9FqR0syxpTISCPbV9kOX/x+k9og=';

function hasDomain({ transactions }: ComparedTrace): boolean {
  return Object.values(transactions).some((one) => one.account_state_after.code_hash === DOMAIN_CODE);
}

describe('a message of the recorded chain that is emulated at the block before', () => {
  it('leads to the real transactions and actions', { timeout: 600_000 }, async () => {
    const wrong: unknown[] = [];
    for (const { boc, transaction, mcSeqno } of recorded.filter((_one, at) => at % every === 0)) {
      const { status, body } = await client.post('emulateTrace', {
        boc,
        mc_block_seqno: mcSeqno - 1,
        with_actions: true,
      });
      expect([mcSeqno, status, status === 200 || body]).toEqual([mcSeqno, 200, true]);
      const real = await realTrace(transaction);
      const differences = differencesOf(body as unknown as ComparedTrace, real, { hasTimes: hasDomain(real) });
      if (differences.length > 0) wrong.push({ transaction, mcSeqno, differences });
    }
    expect(wrong).toEqual([]);
  });
});
