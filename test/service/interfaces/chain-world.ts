import type { DetectionWorld } from '#service/interfaces/detector.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { Chain, ChainBlock } from '#service/devchain/chain/chain.ts';
import { viewAccount, type AccountView } from '#service/live/accounts/account-view.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import type { PinnedBlock } from '#service/live/pinned-block.ts';
import { TvmError } from '#service/tvm/errors.ts';
import type { MethodSubject, Tvm } from '#service/tvm/tvm.ts';
import { accountAt, configAfter, librariesAfter, previousBlocksOf } from '#test/service/tvm/recorded-world.ts';

const DNS_ROOT = 4;

type Visits = 'together' | 'one by one';

/** World of a recorded chain after a masterchain block: accounts at once, and their get-methods in the emulator. */
export function chainWorld(
  chain: Chain,
  tvm: Tvm,
  { seqno = chain.lastSeqno, visits = 'together' }: { readonly seqno?: number; readonly visits?: Visits } = {},
): DetectionWorld {
  const last = chain.masterchain(seqno)!;
  const shared = {
    config: configAfter(chain, last),
    previousBlocks: previousBlocksOf(chain, seqno),
    fetchLibrary: librariesAfter(chain, last),
    randSeed: Buffer.alloc(32),
  };
  const views = new Map<string, Promise<AccountView>>();
  const view = (account: AccountId): Promise<AccountView> => {
    const key = `${account.workchain}:${account.id.toString('hex')}`;
    const known = views.get(key) ?? viewOf(chain, last, account);
    views.set(key, known);
    return known;
  };
  const subjectOf = ({ account: address, code, data, balance, shardUtime: utime }: AccountView): MethodSubject => {
    return { ...shared, address, code, data, balance, utime };
  };
  const { root } = readMasterchainStateExtra(chain.states, readShardState(chain.states, last.state).custom!).config;
  const rootCell = findConfigParam(chain.states, root, DNS_ROOT);
  const dnsRoot = rootCell === undefined ? undefined : new CellSlice(chain.states, rootCell).hash();
  return {
    readAccount: view,
    runMethods: async ({ account: id, calls, gasLimit, gasTotal }) => {
      const account = await view(id);
      const subject = { ...subjectOf(account), gasLimit };
      const results =
        visits === 'together'
          ? await tvm.runGetMethods({ ...subject, calls, gasTotal })
          : await Promise.all(calls.map((call) => tvm.runGetMethod({ ...subject, ...call })));
      return { account, runs: results.map((result) => (result instanceof TvmError ? undefined : result)) };
    },
    runMethod: async ({ account: id, methodId, stack }) => {
      const account = await view(id);
      return { ...(await tvm.runGetMethod({ ...subjectOf(account), methodId, stack })), account };
    },
    readDnsRoot: async () => dnsRoot && { workchain: MASTERCHAIN, id: dnsRoot },
  };
}

function viewOf(chain: Chain, last: ChainBlock, account: AccountId): Promise<AccountView> {
  const { states } = chain;
  const { block } = accountAt(chain, last.id.seqno, account);
  const found = findShardAccount(states, readShardState(states, block.state).accounts, account.id);
  const pinned = { block: last.id, utime: last.header.utime } as PinnedBlock;
  const shard = { block: block.id, utime: block.header.utime };
  const entry = found && { table: states, cell: found.account, ...found };
  return viewAccount(account, pinned, { shard, entry }, ({ table, cell }) => {
    return writeBoc(table, [cell], { crc32c: true });
  });
}
