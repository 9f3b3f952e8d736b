import { CellSlice } from '#service/decode/cell-slice.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { versionInForce } from '#service/decode/tlb/global-version.ts';
import { getConfigAll } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import { fromMemory } from '#service/pool/read-event.ts';
import { checkConfig } from '#service/proof/config-proof.ts';
import { proving } from '#service/proof/proof-cells.ts';
import type { TvmConfig } from '#service/tvm/tvm.ts';
import type { AccountId } from '../accounts/accounts.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { PinnedBlock } from '../pinned-block.ts';

/**
 * Whole configuration in the form for the TVM, with the version of the chain's rules and the root of names.
 * The version is parameter 8, 0 when unset. The root is parameter 4.
 */
export type ChainConfig = TvmConfig & { readonly version: number; readonly dnsRoot: AccountId | undefined };

/** Configurations of pinned blocks: one upstream query for each key block, since only key blocks change the configuration. */
export type ChainConfigs = {
  /** Rejects as `Pool.query` does. */
  configAt(pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<ChainConfig>>;
};

/** Cached key block configurations. Heads need one, reads at old seqnos some more. A configuration has up to a megabyte. */
const CONFIGS_MAX = 8;

const DNS_ROOT = 4;

export function createChainConfigs(dependencies: { pool: Pool }): ChainConfigs {
  const configs = new Map<number, ChainConfig>();

  return {
    async configAt({ block, keyBlockSeqno }, context) {
      const known = configs.get(keyBlockSeqno);
      if (known !== undefined) {
        // The map is in the order of use.
        configs.delete(keyBlockSeqno);
        configs.set(keyBlockSeqno, known);
        context.observe?.(fromMemory);
        return { value: known, liteServers: [], cached: true };
      }
      const { value, liteServers } = await dependencies.pool.query(getConfigAll, { mode: 0, id: block }, context, {
        shareAs: 'chain config',
        check: (answer) => proving('configInfo', () => readConfig(checkConfig({ block, mode: 0 }, answer))),
      });
      configs.set(keyBlockSeqno, value);
      const [oldest] = configs.keys();
      if (configs.size > CONFIGS_MAX && oldest !== undefined) configs.delete(oldest);
      return { value, liteServers, cached: false };
    },
  };
}

function readConfig({ table, config }: ReturnType<typeof checkConfig>): ChainConfig {
  const { version } = versionInForce(table, config.root);
  const dnsCell = findConfigParam(table, config.root, DNS_ROOT);
  const dnsRoot = readDnsRoot(dnsCell === undefined ? undefined : new CellSlice(table, dnsCell));
  return { hash: table.hash(config.root, 0), boc: writeBoc(table, [config.root], { crc32c: true }), version, dnsRoot };
}

/** `_ dns_root_addr:bits256 = ConfigParam 4`: an account of the masterchain. */
function readDnsRoot(slice: CellSlice | undefined): AccountId | undefined {
  if (slice === undefined || slice.remainingBits < 256) return undefined;
  return { workchain: MASTERCHAIN, id: slice.hash() };
}
