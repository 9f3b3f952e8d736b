import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { LiteServerError } from '#service/liteserver/errors.ts';
import { functionOf } from '#service/liteserver/function-table.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import type { DepthKind } from '#service/liteserver/query-facts.ts';

/** First masterchain seqno of the data that a lite server has, by kind. */
export type Keeps = Record<DepthKind, number>;

/** Makes a lite server like a node that collects garbage: it lacks data of each kind below the bound. */
export function forgetful(network: Devchain, server: LiteServer, keeps: Keeps): LiteServer {
  const refuse = (request: Buffer): void => {
    const fn = functionOf(request)!;
    const { id, account, mode } = fn.decodeArgs(request) as {
      id?: { workchain: number; shard: bigint; seqno: number; rootHash?: Buffer };
      account?: { workchain: number };
      mode?: number;
    };
    if (id === undefined || (fn.name.startsWith('lookupBlock') && mode !== 1)) return;
    const isState = fn.cost === 'state';
    const isOfShard = id.workchain !== MASTERCHAIN || (account?.workchain ?? MASTERCHAIN) !== MASTERCHAIN;
    const kind: DepthKind = isOfShard
      ? isState
        ? 'shardState'
        : 'shardBlock'
      : isState
        ? 'masterchainState'
        : 'masterchainBlock';
    if (masterchainSeqnoOf(network, id) < keeps[kind])
      throw new LiteServerError('pruned', { serverCode: 651, text: 'block is not in db', function: fn.name });
  };
  return {
    ...server,
    query: async (fn, args, options) => {
      refuse(fn.encode(args));
      return server.query(fn, args, options);
    },
    queryBytes: async (request, options) => {
      refuse(request);
      return server.queryBytes(request, options);
    },
  };
}

/** Returns the masterchain seqno of the block named by a full id or a position. */
function masterchainSeqnoOf(network: Devchain, id: { workchain: number; shard: bigint; seqno: number }): number {
  if (id.workchain === MASTERCHAIN) return id.seqno;
  const blocks = network.chain.along(id.workchain, BigInt.asUintN(64, id.shard));
  const found = blocks.find((block) => block.id.seqno === id.seqno && block.id.shard === BigInt.asUintN(64, id.shard));
  return found?.masterchainSeqno ?? 0;
}
