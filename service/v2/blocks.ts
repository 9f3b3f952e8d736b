import type { LiveAccounts, LiveMasterchainInfo } from '../live/accounts.ts';
import { defineOperation, mapAnswer, type Operation } from './operation.ts';
import { hash } from './scalars.ts';
import { constant, named, object, type Infer } from './shape.ts';
import { blockIdExt, viewBlockId, viewHash } from './views.ts';

const masterchainInfo = named(
  'MasterchainInfo',
  object({
    '@type': constant('blocks.masterchainInfo'),
    last: blockIdExt,
    state_root_hash: hash,
    init: blockIdExt,
  }),
);

/** The zerostate is written as a block with shard and seqno 0 (v2 sheet 9.2). */
export function viewMasterchainInfo(info: LiveMasterchainInfo): Infer<typeof masterchainInfo> {
  return {
    '@type': 'blocks.masterchainInfo',
    last: viewBlockId(info.last),
    state_root_hash: viewHash(info.stateRootHash),
    init: viewBlockId({ ...info.init, shard: 0n, seqno: 0 }),
  };
}

/** The operations about blocks (v2 sheet 9.2). */
export function blockOperations(accounts: LiveAccounts): readonly Operation[] {
  return [
    defineOperation({
      name: 'getMasterchainInfo',
      methods: ['GET', 'POST'],
      tag: 'blocks',
      summary: 'The newest masterchain block, its state hash and the zerostate.',
      parameters: {},
      result: masterchainInfo,
      handle: async (_values, context) => mapAnswer(await accounts.readMasterchainInfo(context), viewMasterchainInfo),
    }),
  ];
}
