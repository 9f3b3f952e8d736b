import { FULL_SHARD, MASTERCHAIN, type BlockId } from '#service/decode/block-id.ts';
import type { AccountId, LiveAccount, LiveAccounts, LiveMasterchainInfo } from '#service/live/accounts/accounts.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';

/** 32 bytes that are easy to tell apart. */
export function bytes32(fill: number): Buffer {
  return Buffer.alloc(32, fill);
}

export function masterchainBlock(seqno: number): BlockId {
  return { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno, rootHash: bytes32(0xfb), fileHash: bytes32(0xff) };
}

/** BoC of one ordinary cell without data, with CRC32C. */
export const emptyCellBoc = Buffer.from('te6cckEBAQEAAgAAAEysuc0=', 'base64');

/** An account that was never seen: the form that lite servers give to absent ones. */
export function absentAccount(account: AccountId, overrides: Partial<LiveAccount> = {}): LiveAccount {
  return {
    account,
    state: 'uninitialized',
    balance: 0n,
    extraCurrencies: [],
    stateHash: null,
    lastTransaction: { lt: 0n, hash: Buffer.alloc(32) },
    masterchainBlock: masterchainBlock(1000),
    shardBlock: { ...masterchainBlock(2000), workchain: 0 },
    shardUtime: 1_748_764_000,
    code: null,
    data: null,
    frozenHash: null,
    suspended: false,
    ...overrides,
  };
}

export function activeAccount(account: AccountId, overrides: Partial<LiveAccount> = {}): LiveAccount {
  return absentAccount(account, {
    state: 'active',
    balance: 2_099_997_242n,
    stateHash: bytes32(0x5a),
    lastTransaction: { lt: 35_244_717_000_001n, hash: bytes32(0xaf) },
    code: emptyCellBoc,
    data: emptyCellBoc,
    ...overrides,
  });
}

export const liveInfo: LiveMasterchainInfo = {
  last: masterchainBlock(37_926_913),
  stateRootHash: bytes32(0x2e),
  init: { workchain: MASTERCHAIN, rootHash: bytes32(0x17), fileHash: bytes32(0x5e) },
};

export type AccountRead = { readonly account: AccountId; readonly seqno: number | undefined };

/** What a test makes of the live layer. Each part may answer late or throw. */
export type AccountsScript = {
  readonly account?: (read: AccountRead, context: ReadContext) => LiveAccount | Promise<LiveAccount>;
  readonly info?: (context: ReadContext) => LiveMasterchainInfo | Promise<LiveMasterchainInfo>;
  readonly liteServers?: readonly number[];
  readonly cached?: boolean;
};

/** Answers by script and remembers what was asked. */
export function scriptAccounts(script: AccountsScript = {}): LiveAccounts & { readonly reads: AccountRead[] } {
  const { liteServers = [4], cached = false } = script;
  const answer = <T>(value: T): LiveAnswer<T> => ({ value, liteServers, cached });
  const reads: AccountRead[] = [];
  return {
    reads,
    async readAccount(account, seqno, context) {
      reads.push({ account, seqno });
      const make = script.account ?? (({ account: id }: AccountRead) => activeAccount(id));
      return answer(await make({ account, seqno }, context));
    },
    async readShardAccount(account, seqno) {
      reads.push({ account, seqno });
      return answer(emptyCellBoc);
    },
    async readMasterchainInfo(context) {
      return answer(await (script.info ?? (() => liveInfo))(context));
    },
  };
}
