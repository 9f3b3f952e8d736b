import { beginCell } from '@ton/core';
import { describe, expect, it, onTestFinished } from 'vitest';

import { CellSlice } from '#service/decode/cell-slice.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { openMasterchainState } from '#service/devchain/collator/masterchain-state.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { startApiOver } from '#test/support/api.ts';
import { forkOf } from '#test/support/forked-network.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { putAccount } from '#test/support/put-account.ts';

/** `DROP; GLOBALID` answers every get-method. */
const code = beginCell().storeUint(0x30f835, 24).endCell();
const place = { workchain: 0, id: Buffer.alloc(32, 0x19) };

function globalIdsOf(network: PrivateNetwork): readonly number[] {
  const { chain } = network;
  const { state } = network.head();
  const param = findConfigParam(chain.states, openMasterchainState(chain.states, state).config.root, 19)!;
  return [readShardState(chain.states, state).globalId, new CellSlice(chain.states, param).int(32)];
}

describe('the global id of a private network', () => {
  it.each([undefined, -239, 7])('is the same in blocks, in parameter 19 and for contracts: %s', async (globalId) => {
    const network = await startPrivateNetwork(globalId === undefined ? {} : { globalId });
    const wanted = globalId ?? -217;
    expect(globalIdsOf(network)).toEqual([wanted, wanted]);
    await network.step([putAccount(place, { code, data: beginCell().endCell() })]);
    await network.step();
    const api = await startApiOver(network);
    onTestFinished(() => api.close());
    const address = `0:${place.id.toString('hex')}`;
    const { body } = await api.post('runGetMethodStd', { address, method: 'any', stack: [] });
    expect(body['result']).toMatchObject({
      exit_code: 0,
      stack: [{ number: { number: String(wanted) } }],
    });
  });

  it('is that of the network that it is a fork of', async () => {
    const origin = await startPrivateNetwork({ globalId: -239 });
    onTestFinished(() => origin.close());
    const fork = await startPrivateNetwork({}, forkOf(origin.chain));
    onTestFinished(() => fork.close());
    expect(globalIdsOf(fork)).toEqual([-239, -239]);
  });
});
