import type { Carried } from './codec.ts';
import { bool, bytes, int, int256, long, nat, string, uint, vector } from './codec.ts';
import { optional, record, spelled, union } from './record.ts';
import { blockId, zeroStateId } from './ton-node.ts';

// Types of lite_api.tl (service/liteserver/README.md#functions). `mode` stays whole: bits that govern no field survive a round trip.

export const liteServerError = record('liteServer.error', 'liteServer.Error', { code: int, message: string });

/** Error of a gateway before lite servers, not of a node (service/liteserver/README.md#envelope). */
export const serverBusy = record('liteServer.serverBusy', 'liteServer.ServerBusy', { code: int, message: string });

export const accountId = record('liteServer.accountId', 'liteServer.AccountId', { workchain: int, id: int256 });

export const libraryEntry = record('liteServer.libraryEntry', 'liteServer.LibraryEntry', { hash: int256, data: bytes });

export const masterchainInfo = record('liteServer.masterchainInfo', 'liteServer.MasterchainInfo', {
  last: blockId,
  stateRootHash: int256,
  init: zeroStateId,
});
export type MasterchainInfo = Carried<typeof masterchainInfo>;

export const masterchainInfoExt = record('liteServer.masterchainInfoExt', 'liteServer.MasterchainInfoExt', {
  mode: nat,
  version: int,
  capabilities: long,
  last: blockId,
  lastUtime: uint,
  now: uint,
  stateRootHash: int256,
  init: zeroStateId,
});
export type MasterchainInfoExt = Carried<typeof masterchainInfoExt>;

export const currentTime = record('liteServer.currentTime', 'liteServer.CurrentTime', { now: uint });
export type CurrentTime = Carried<typeof currentTime>;

export const version = record('liteServer.version', 'liteServer.Version', {
  mode: nat,
  version: int,
  capabilities: long,
  now: uint,
});
export type Version = Carried<typeof version>;

export const blockData = record('liteServer.blockData', 'liteServer.BlockData', { id: blockId, data: bytes });
export type BlockData = Carried<typeof blockData>;

export const blockState = record('liteServer.blockState', 'liteServer.BlockState', {
  id: blockId,
  rootHash: int256,
  fileHash: int256,
  data: bytes,
});
export type BlockState = Carried<typeof blockState>;

export const blockHeader = record('liteServer.blockHeader', 'liteServer.BlockHeader', {
  id: blockId,
  mode: nat,
  headerProof: bytes,
});
export type BlockHeader = Carried<typeof blockHeader>;

export const sendMsgStatus = record('liteServer.sendMsgStatus', 'liteServer.SendMsgStatus', { status: int });
export type SendMsgStatus = Carried<typeof sendMsgStatus>;

export const accountState = record('liteServer.accountState', 'liteServer.AccountState', {
  id: blockId,
  shardBlock: spelled('shardblk', blockId),
  shardProof: bytes,
  proof: bytes,
  state: bytes,
});
export type AccountState = Carried<typeof accountState>;

export const runMethodResult = record('liteServer.runMethodResult', 'liteServer.RunMethodResult', {
  mode: nat,
  id: blockId,
  shardBlock: spelled('shardblk', blockId),
  shardProof: optional(0, bytes),
  proof: optional(0, bytes),
  stateProof: optional(1, bytes),
  initC7: optional(3, bytes),
  libExtras: optional(4, bytes),
  exitCode: int,
  result: optional(2, bytes),
});
export type RunMethodResult = Carried<typeof runMethodResult>;

export const shardInfo = record('liteServer.shardInfo', 'liteServer.ShardInfo', {
  id: blockId,
  shardBlock: spelled('shardblk', blockId),
  shardProof: bytes,
  shardDescr: bytes,
});
export type ShardInfo = Carried<typeof shardInfo>;

export const allShardsInfo = record('liteServer.allShardsInfo', 'liteServer.AllShardsInfo', {
  id: blockId,
  proof: bytes,
  data: bytes,
});
export type AllShardsInfo = Carried<typeof allShardsInfo>;

export const transactionInfo = record('liteServer.transactionInfo', 'liteServer.TransactionInfo', {
  id: blockId,
  proof: bytes,
  transaction: bytes,
});
export type TransactionInfo = Carried<typeof transactionInfo>;

export const transactionList = record('liteServer.transactionList', 'liteServer.TransactionList', {
  ids: vector(blockId),
  transactions: bytes,
});
export type TransactionList = Carried<typeof transactionList>;

export const transactionMetadata = record('liteServer.transactionMetadata', 'liteServer.TransactionMetadata', {
  mode: nat,
  depth: int,
  initiator: accountId,
  initiatorLt: long,
});

export const transactionId = record(
  'liteServer.transactionId',
  'liteServer.TransactionId',
  {
    mode: nat,
    account: optional(0, int256),
    lt: optional(1, long),
    hash: optional(2, int256),
    metadata: optional(8, transactionMetadata),
  },
  0xb12f65af,
);
export type TransactionId = Carried<typeof transactionId>;

/** Position in a block's transactions after which a listing continues. */
export const transactionPlace = record('liteServer.transactionId3', 'liteServer.TransactionId3', {
  account: int256,
  lt: long,
});

export const blockTransactions = record('liteServer.blockTransactions', 'liteServer.BlockTransactions', {
  id: blockId,
  reqCount: nat,
  incomplete: bool,
  ids: vector(transactionId),
  proof: bytes,
});
export type BlockTransactions = Carried<typeof blockTransactions>;

export const blockTransactionsExt = record('liteServer.blockTransactionsExt', 'liteServer.BlockTransactionsExt', {
  id: blockId,
  reqCount: nat,
  incomplete: bool,
  transactions: bytes,
  proof: bytes,
});
export type BlockTransactionsExt = Carried<typeof blockTransactionsExt>;

export const signature = record('liteServer.signature', 'liteServer.Signature', {
  nodeIdShort: int256,
  signature: bytes,
});

/** Signatures of a masterchain block: of the catchain consensus (`ordinary`) or of `simplex` (service/proof/README.md#signatures). */
export const signatureSet = union('liteServer.SignatureSet', {
  ordinary: record(
    'liteServer.signatureSet.ordinary',
    'liteServer.SignatureSet',
    { validatorSetHash: uint, catchainSeqno: uint, signatures: vector(signature) },
    0xf644a6e6,
  ),
  simplex: record('liteServer.signatureSet.simplex', 'liteServer.SignatureSet', {
    catchainSeqno: spelled('cc_seqno', uint),
    validatorSetHash: uint,
    signatures: vector(signature),
    sessionId: int256,
    slot: uint,
    candidate: bytes,
  }),
});
export type SignatureSet = Carried<typeof signatureSet>;

export const blockLink = union('liteServer.BlockLink', {
  back: record('liteServer.blockLinkBack', 'liteServer.BlockLink', {
    toKeyBlock: bool,
    from: blockId,
    to: blockId,
    destProof: bytes,
    proof: bytes,
    stateProof: bytes,
  }),
  forward: record('liteServer.blockLinkForward', 'liteServer.BlockLink', {
    toKeyBlock: bool,
    from: blockId,
    to: blockId,
    destProof: bytes,
    configProof: bytes,
    signatures: signatureSet,
  }),
});
export type BlockLink = Carried<typeof blockLink>;

export const partialBlockProof = record('liteServer.partialBlockProof', 'liteServer.PartialBlockProof', {
  complete: bool,
  from: blockId,
  to: blockId,
  steps: vector(blockLink),
});
export type PartialBlockProof = Carried<typeof partialBlockProof>;

export const configInfo = record('liteServer.configInfo', 'liteServer.ConfigInfo', {
  mode: nat,
  id: blockId,
  stateProof: bytes,
  configProof: bytes,
});
export type ConfigInfo = Carried<typeof configInfo>;

export const validatorStats = record('liteServer.validatorStats', 'liteServer.ValidatorStats', {
  mode: nat,
  id: blockId,
  count: int,
  complete: bool,
  stateProof: bytes,
  dataProof: bytes,
});
export type ValidatorStats = Carried<typeof validatorStats>;

export const libraryResult = record('liteServer.libraryResult', 'liteServer.LibraryResult', {
  result: vector(libraryEntry),
});
export type LibraryResult = Carried<typeof libraryResult>;

export const libraryResultWithProof = record('liteServer.libraryResultWithProof', 'liteServer.LibraryResultWithProof', {
  id: blockId,
  mode: nat,
  result: vector(libraryEntry),
  stateProof: bytes,
  dataProof: bytes,
});
export type LibraryResultWithProof = Carried<typeof libraryResultWithProof>;

export const shardBlockLink = record('liteServer.shardBlockLink', 'liteServer.ShardBlockLink', {
  id: blockId,
  proof: bytes,
});

export const shardBlockProof = record('liteServer.shardBlockProof', 'liteServer.ShardBlockProof', {
  masterchainId: blockId,
  links: vector(shardBlockLink),
});
export type ShardBlockProof = Carried<typeof shardBlockProof>;

export const lookupBlockResult = record('liteServer.lookupBlockResult', 'liteServer.LookupBlockResult', {
  id: blockId,
  mode: nat,
  mcBlockId: blockId,
  clientMcStateProof: bytes,
  mcBlockProof: bytes,
  shardLinks: vector(shardBlockLink),
  header: bytes,
  prevHeader: bytes,
});
export type LookupBlockResult = Carried<typeof lookupBlockResult>;

export const outMsgQueueSize = record('liteServer.outMsgQueueSize', 'liteServer.OutMsgQueueSize', {
  id: blockId,
  size: int,
});

export const outMsgQueueSizes = record('liteServer.outMsgQueueSizes', 'liteServer.OutMsgQueueSizes', {
  shards: vector(outMsgQueueSize),
  extMsgQueueSizeLimit: int,
});
export type OutMsgQueueSizes = Carried<typeof outMsgQueueSizes>;

export const blockOutMsgQueueSize = record('liteServer.blockOutMsgQueueSize', 'liteServer.BlockOutMsgQueueSize', {
  mode: nat,
  id: blockId,
  size: long,
  proof: optional(0, bytes),
});
export type BlockOutMsgQueueSize = Carried<typeof blockOutMsgQueueSize>;

export const accountDispatchQueueInfo = record(
  'liteServer.accountDispatchQueueInfo',
  'liteServer.AccountDispatchQueueInfo',
  { addr: int256, size: long, minLt: long, maxLt: long },
);

export const dispatchQueueInfo = record('liteServer.dispatchQueueInfo', 'liteServer.DispatchQueueInfo', {
  mode: nat,
  id: blockId,
  accountDispatchQueues: vector(accountDispatchQueueInfo),
  complete: bool,
  proof: optional(0, bytes),
});
export type DispatchQueueInfo = Carried<typeof dispatchQueueInfo>;

export const dispatchQueueMessage = record('liteServer.dispatchQueueMessage', 'liteServer.DispatchQueueMessage', {
  addr: int256,
  lt: long,
  hash: int256,
  metadata: transactionMetadata,
});

export const dispatchQueueMessages = record('liteServer.dispatchQueueMessages', 'liteServer.DispatchQueueMessages', {
  mode: nat,
  id: blockId,
  messages: vector(dispatchQueueMessage),
  complete: bool,
  proof: optional(0, bytes),
  messagesBoc: optional(2, bytes),
});
export type DispatchQueueMessages = Carried<typeof dispatchQueueMessages>;

export const pendingShardBlocks = record(
  'liteServer.nonfinal.pendingShardBlocks',
  'liteServer.nonfinal.PendingShardBlocks',
  { signedBlocks: vector(blockId), candidates: vector(blockId) },
);
export type PendingShardBlocks = Carried<typeof pendingShardBlocks>;
