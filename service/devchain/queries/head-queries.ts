import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getMasterchainInfoExt } from '#service/liteserver/functions.ts';
import type { CurrentTime, MasterchainInfo, MasterchainInfoExt, Version } from '#service/liteserver/tl/lite-api.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { tipBlock } from '../chain/chain-view.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Reported version of this protocol: 1.1. */
const version = 0x101;

/** Proof chains (1), masterchainInfoExt (2), get-methods (4), shard-client state (8). */
const CAPABILITIES = 15n;

function answerTime(view: ChainView): CurrentTime {
  return { now: view.nowSeconds };
}

function answerVersion(view: ChainView): Version {
  return { mode: 0, version, capabilities: CAPABILITIES, now: view.nowSeconds };
}

function answerMasterchainInfo(view: ChainView): MasterchainInfo {
  const { id, state } = tipBlock(view);
  const { workchain, rootHash, fileHash } = view.chain.zeroStates[0]!.id;
  return { last: id, stateRootHash: view.chain.states.hash(state), init: { workchain, rootHash, fileHash } };
}

/**
 * Modes 0 and 1 are the same here, because the tape's shards are always available. Mode 1 names the block whose shard blocks are applied.
 */
function answerMasterchainInfoExt(view: ChainView, { mode }: ArgsOf<typeof getMasterchainInfoExt>): MasterchainInfoExt {
  if ((mode & 0x7fffffff) > 1) throw refusal(serverCode.fatal, 'unsupported getMasterchainInfo mode');
  const lastUtime = tipBlock(view).header.utime;
  return { mode, version, capabilities: CAPABILITIES, lastUtime, now: view.nowSeconds, ...answerMasterchainInfo(view) };
}

/** Handlers of the newest block and of the server itself. */
export const headQueries = {
  getMasterchainInfo: answerMasterchainInfo,
  getMasterchainInfoExt: answerMasterchainInfoExt,
  getTime: answerTime,
  getVersion: answerVersion,
} satisfies Partial<QueryHandlers>;
