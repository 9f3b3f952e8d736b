import { join } from 'node:path';
import { getMethodId } from '@ton/core';
import { afterAll, describe, expect, it } from 'vitest';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type { Account } from '#service/decode/tlb/account.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import type { FeesRequest, SourceFees } from '#service/tvm/fees.ts';
import { estimateFees } from '#service/tvm/fees.ts';
import { readPrices, storageFee } from '#service/tvm/prices.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import {
  accountAt,
  bocOf,
  configAfter,
  librariesAfter,
  previousBlocksOf,
  readRecords,
  startTvm,
} from './recorded-world.ts';
import { walletLater } from './wallet-seqno.ts';
import { recordedChain } from '#test/support/recorded-chain.ts';

// The reference client's library estimated these fees on the newest state that it knew. The recording does not name the state.
// It must be a state of the chain at a time while it was the newest. A wallet may also be a few messages beyond the chain's end.

type FeesRecord = {
  note: string;
  request: {
    '@type': string;
    address: string;
    body: string;
    init_code: string;
    init_data: string;
    ignore_chksig: boolean;
  };
  response: {
    '@type': string;
    source_fees: { in_fwd_fee: number; storage_fee: number; gas_fee: number; fwd_fee: number };
  };
};

/** Seconds after its last block in which a recording's estimates may have been made. */
const AFTER_END_S = 3600;

/** Most messages of a wallet in that time. */
const AFTER_END_MESSAGES = 5;

const { tvm } = startTvm();
afterAll(() => tvm.close());

for (const folder of recordingDirs()) {
  const records = (await readRecords<FeesRecord>(join(folder, 'tonlib.jsonl'))).filter(
    ({ request, response }) => request['@type'].endsWith('estimateFees') && response['@type'] === 'query.fees',
  );
  const none = skipLoudly(records.length === 0, { what: `fees in ${folder}`, why: 'no estimates in tonlib.jsonl' });
  describe.skipIf(none)(`the fees that the library estimated on ${folder.split('/').at(-1)}`, async () => {
    const chain = await recordedChain(folder);

    it.each(records)(
      "the estimate equals the library's: $note, ignore_chksig $request.ignore_chksig",
      async ({ request, response }) => {
        const { in_fwd_fee, storage_fee, gas_fee, fwd_fee } = response.source_fees;
        const found: SourceFees[] = [];
        for await (const candidate of candidatesOf(chain, request, BigInt(storage_fee))) {
          found.unshift(await estimateFees(tvm, candidate));
          if (found[0]!.gasFee === BigInt(gas_fee)) break;
        }
        expect(found[0]).toEqual({
          inForwardFee: BigInt(in_fwd_fee),
          storageFee: BigInt(storage_fee),
          gasFee: BigInt(gas_fee),
          forwardFee: BigInt(fwd_fee),
        });
      },
    );
  });
}

/** Yields the account's states, newest first, each at the first time at which its storage cost the recorded fee. */
async function* candidatesOf(
  chain: Chain,
  request: FeesRecord['request'],
  storage: bigint,
): AsyncGenerator<FeesRequest> {
  const [workchain, id] = request.address.split(':');
  const address = { workchain: Number(workchain), id: Buffer.from(id!, 'hex') };
  let newer: { readonly hash: string; readonly until: number } = {
    hash: '',
    until: chain.masterchain(chain.lastSeqno)!.header.utime + AFTER_END_S,
  };
  for (let seqno = chain.lastSeqno; seqno >= firstSeqno(chain, address.workchain); seqno--) {
    const { block, cell, account } = accountAt(chain, seqno, address);
    const hash = cell === undefined ? 'none' : chain.states.hash(cell).toString('hex');
    if (hash === newer.hash) continue;
    const masterchainBlock = chain.masterchain(seqno)!;
    const config = configAfter(chain, masterchainBlock);
    const boc = parseBoc(config.boc);
    const prices = readPrices(boc, boc.roots[0]!, address.workchain === MASTERCHAIN);
    const first = account?.storage.lastPaid ?? block.header.utime;
    const costs = (utime: number): bigint =>
      account === undefined ? 0n : storageFee(prices.storage, account.storage, account.storage.lastPaid, utime);
    const utime = Array.from({ length: newer.until - first + 1 }, (_, index) => first + index).find(
      (at) => costs(at) === storage,
    );
    newer = { hash, until: block.header.utime };
    if (utime === undefined) continue;
    const candidate = {
      address,
      account: bocOf(chain, cell),
      body: Buffer.from(request.body, 'base64'),
      initCode: optionalBoc(request.init_code),
      initData: optionalBoc(request.init_data),
      ignoreSignature: request.ignore_chksig,
      config,
      previousBlocks: previousBlocksOf(chain, seqno),
      utime,
      randSeed: Buffer.alloc(32),
      fetchLibrary: librariesAfter(chain, masterchainBlock),
    };
    yield candidate;
    if (account?.state.kind !== 'active' || seqno < chain.lastSeqno) continue;
    const sent = await readSeqno(chain, candidate, account);
    for (let messages = 1; messages <= AFTER_END_MESSAGES; messages++) {
      const later = walletLater(chain, cell!, account, sent, messages);
      if (later !== undefined) yield { ...candidate, account: later };
    }
  }
}

/** Returns the first masterchain block that refers to a block of the workchain. */
function firstSeqno(chain: Chain, workchain: number): number {
  return Math.max(1, ...[0n, 1n << 63n].map((prefix) => chain.along(workchain, prefix)[0]!.masterchainSeqno));
}

async function readSeqno(chain: Chain, request: FeesRequest, account: Account): Promise<number> {
  const init = account.state.kind === 'active' ? account.state.init : undefined;
  const { stack } = await tvm.runGetMethod({
    ...request,
    code: bocOf(chain, init?.code),
    data: bocOf(chain, init?.data),
    balance: account.balance.grams,
    methodId: getMethodId('seqno'),
    stack: [],
  });
  const top = stack.at(-1);
  return top?.type === 'int' ? Number(top.value) : -1;
}

function optionalBoc(base64: string): Buffer | null {
  return base64 === '' ? null : Buffer.from(base64, 'base64');
}
