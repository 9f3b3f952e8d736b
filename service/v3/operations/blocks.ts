import { list, named, object, type Infer } from '#service/contract/shape.ts';
import {
  blockOrder,
  findBlocks,
  findMasterchainEnds,
  findShardTops,
  type BlockFilter,
} from '#service/store/queries/blocks.ts';
import type { Direction, Page } from '#service/store/queries/conditions.ts';
import type { BlockRow } from '#service/store/tables.ts';
import { block, viewBlock } from '../views/block-views.ts';
import { readPage, type CursorValues } from '../request/cursor.ts';
import { notIndexed, V3Error } from '../request/errors.ts';
import { isNewestPage } from '../request/newest-page.ts';
import { defineV3Operation, type V3Context, type V3Operation } from '../request/operation.ts';
import { cursorPaging, hash, int32, masterchainSeqno, shard, windows } from '../request/parameters.ts';
import { orNull } from '../request/scalars.ts';

const blocksResponse = named('BlocksResponse', object({ blocks: list(block) }));

const masterchainInfo = named('MasterchainInfo', object({ last: orNull(block), first: orNull(block) }));

/** The operations about blocks (service/v3/README.md#chain-operations). */
export function blockOperations(): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'masterchainInfo',
      tag: 'blockchain',
      summary: 'The newest and the oldest indexed masterchain block.',
      parameters: {},
      result: masterchainInfo,
      sameForBlock: () => true,
      handle: async (_values, { store }) => {
        const ends = await findMasterchainEnds(store);
        if (ends === undefined) throw new V3Error('index_empty', 'no block is indexed yet');
        return { last: viewBlock(ends.last), first: viewBlock(ends.first) };
      },
    }),
    defineV3Operation({
      name: 'blocks',
      tag: 'blockchain',
      summary: 'Blocks that match all filters.',
      parameters: {
        workchain: int32('workchain'),
        shard: shard('shard'),
        seqno: int32('seqno'),
        rootHash: hash('root_hash'),
        fileHash: hash('file_hash'),
        mcSeqno: int32('mc_seqno'),
        ...windows,
        ...cursorPaging,
      },
      result: blocksResponse,
      flat: true,
      sameForBlock: (values) => isNewestPage({ ...values, workchain: undefined }),
      handle: async (values, context) => viewBlocks(await readList(values, values, context)),
    }),
    defineV3Operation({
      name: 'masterchainBlockShardState',
      tag: 'blockchain',
      summary: 'The top blocks of all shards at a masterchain block, which is one of them.',
      parameters: { seqno: masterchainSeqno },
      failures: [404],
      result: blocksResponse,
      flat: true,
      handle: async ({ seqno = 0 }, { store }) => found(viewBlocks(await findShardTops(store, seqno))),
    }),
    defineV3Operation({
      name: 'masterchainBlockShards',
      tag: 'blockchain',
      summary: 'The blocks that a masterchain block newly refers to, and itself.',
      parameters: { seqno: masterchainSeqno, ...cursorPaging },
      failures: [404],
      result: blocksResponse,
      flat: true,
      handle: async ({ seqno = 0, ...part }, context) =>
        found(viewBlocks(await readList({ mcSeqno: seqno }, part, context))),
    }),
  ];
}

function readList(
  filter: BlockFilter,
  part: CursorValues & Page & { readonly sort: Direction },
  context: V3Context,
): Promise<readonly BlockRow[]> {
  const order = { list: 'blocks', order: blockOrder(part) };
  return readPage(order, part, context, (after) => findBlocks(context.store, filter, { ...part, after }));
}

function viewBlocks(rows: readonly BlockRow[]): Infer<typeof blocksResponse> {
  return { blocks: rows.map(viewBlock) };
}

function found(answer: Infer<typeof blocksResponse>): Infer<typeof blocksResponse> {
  if (answer.blocks.length === 0) throw notIndexed('blocks not found');
  return answer;
}
