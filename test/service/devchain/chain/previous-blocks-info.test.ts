import { afterAll, describe, expect, it } from 'vitest';

import { createPreviousBlocks, previousBlocksInfo } from '#service/devchain/chain/previous-blocks-info.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';

describe('the view that contracts have of earlier blocks', async () => {
  const network = await startPrivateNetwork({});
  afterAll(() => network.close());

  it('is that of the asked block while the chain grows, also when an older block is asked for again', async () => {
    const { chain } = network;
    const previousBlocks = createPreviousBlocks(chain);
    const views = new Set<string>();
    for (let block = 0; block < 5; block++) {
      const { seqno } = (await network.step()).block.id;
      for (const asked of [seqno, seqno, seqno - 1, seqno]) {
        expect(previousBlocks(asked)).toBe(previousBlocksInfo(chain, asked));
        views.add(previousBlocks(asked));
      }
    }
    expect(views.size).toBe(6);
  });
});
