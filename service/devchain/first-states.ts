import { createHash } from 'node:crypto';

import { parseBoc } from '../decode/boc.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { findConfigParam } from '../decode/tlb/config-params.ts';
import type { ForkGenesis } from './fork/fork.ts';
import type { PrivateNetworkOptions } from './private-network.ts';
import type { ValidatorKey } from './chain/signing.ts';
import { describeValidator, validatorKey } from './chain/signing.ts';
import { genesisWallet } from './zerostate/wallet.ts';
import type { GenesisAccount, ZeroState } from './zerostate/zerostate.ts';
import { buildZeroStates } from './zerostate/zerostate.ts';

/** Nanotons of the faucet: mainnet's initial supply. */
const FAUCET_BALANCE = 5_000_000_000_000_000_000n;

/** Global id of a network that specifies none. */
export const DEFAULT_GLOBAL_ID = -217;

const VALIDATOR_WEIGHT = 1n << 40n;

/** Keys of a private network. They are public, because the network is only for tests. */
export type NetworkKeys = {
  readonly validators: ValidatorKey[];
  readonly faucetSeed: Buffer;
  /** The faucet: a wallet v4r2 with a fortune. */
  readonly faucet: GenesisAccount;
};

/** @param validators number of validators */
export function networkKeys(validators: number): NetworkKeys {
  const faucetSeed = seedOf('faucet');
  return {
    validators: Array.from({ length: validators }, (_, index) => validatorKey(seedOf(`validator ${index}`))),
    faucetSeed,
    faucet: genesisWallet(validatorKey(faucetSeed).publicKey, FAUCET_BALANCE),
  };
}

/**
 * Builds the zerostates of the masterchain and the basechain.
 * @param nowSeconds Unix seconds of a network without a time of its own
 * @param fork initial content from another network; undefined in a network that is no fork
 */
export function buildFirstStates(
  options: PrivateNetworkOptions,
  { validators, faucet }: NetworkKeys,
  nowSeconds: number,
  fork: ForkGenesis | undefined,
): readonly ZeroState[] {
  const { masterchain, basechain } = buildZeroStates({
    globalId: options.globalId ?? (fork && globalIdOf(fork)) ?? DEFAULT_GLOBAL_ID,
    utime: Math.max(options.genesisUtime ?? nowSeconds, fork?.utime ?? 0),
    ...(fork !== undefined && { lt: fork.endLt, base: fork.config }),
    validators: validators.map((key) => describeValidator(key, VALIDATOR_WEIGHT)),
    accounts: [faucet, ...(options.accounts ?? [])],
    minSplit: options.minSplit ?? 0,
    maxSplit: options.maxSplit ?? 4,
    splitMergeDelaySeconds: options.splitMergeDelaySeconds ?? 100,
    splitMergeIntervalSeconds: options.splitMergeIntervalSeconds ?? 100,
  });
  return [masterchain, basechain];
}

function seedOf(name: string): Buffer {
  return createHash('sha256').update(`tonplane private network: ${name}`).digest();
}

/** Returns parameter 19 of a configuration; undefined when absent. */
function globalIdOf({ config }: ForkGenesis): number | undefined {
  const table = parseBoc(config);
  const cell = findConfigParam(table, table.roots[0]!, 19);
  return cell === undefined ? undefined : new CellSlice(table, cell).int(32);
}
