import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { shardPrefixBits } from '#service/decode/shard.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import {
  NO_CURRENCIES,
  addCurrencies,
  listExtraCurrencies,
  onlyGrams,
  storeExtraCurrencies,
  subtractCurrencies,
} from '#service/decode/tlb/currency-collection.ts';
import type { ShardFees } from '#service/decode/tlb/shard-fees.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { ValueFlow } from '#service/decode/tlb/value-flow.ts';
import type { ChainConfig } from './chain-config.ts';
import type { Gained } from './state-edits.ts';

/** Validators leave fees below this where they are: the transaction that collects them would not be worth it. */
const LEAST_RECOVERED = 1_000_000_000n;

/** Money that a block makes before any transaction of it. */
export type BlockValueFlow = {
  readonly created: CurrencyCollection;
  /** New extra currencies. A message brings them to their account. */
  readonly minted: CurrencyCollection;
  /** Currencies added by hand. The block counts them as minted. */
  readonly edited: CurrencyCollection;
  readonly recovered: CurrencyCollection;
  readonly feesImported: CurrencyCollection;
  /** Fees of the block so far: imported and created. */
  readonly feesCollected: CurrencyCollection;
  readonly burned: CurrencyCollection;
};

/** The part of fees that is burned. */
export function burnedPart({ burned }: ChainConfig, fees: CurrencyCollection): CurrencyCollection {
  return onlyGrams((fees.grams * burned.numerator) / burned.denominator);
}

/**
 * @param cells the store of the dictionaries
 * @param before fees that validators have not collected, and all coins that there are, of the masterchain's state
 */
export function startValueFlow(
  cells: CellStore,
  config: ChainConfig,
  shard: ShardIdent,
  imported: ShardFees,
  before: { readonly validatorFees: CurrencyCollection; readonly globalBalance: CurrencyCollection },
  { added: edited, lost }: Gained,
): BlockValueFlow {
  if (shard.workchain !== MASTERCHAIN) {
    const fee = shard.workchain === 0 ? config.basechainBlockFee >> BigInt(shardPrefixBits(shard.shard)) : 0n;
    const created = onlyGrams(fee);
    const none = { recovered: NO_CURRENCIES, feesImported: NO_CURRENCIES };
    return {
      ...none,
      created,
      feesCollected: created,
      edited,
      minted: NO_CURRENCIES,
      burned: lost,
    };
  }
  const created = onlyGrams(config.masterchainBlockFee);
  const burned = burnedPart(config, subtractCurrencies(cells, imported.fees, imported.create));
  const feesCollected = addCurrencies(cells, subtractCurrencies(cells, imported.fees, burned), created);
  const due = addCurrencies(cells, feesCollected, before.validatorFees);
  const isWorth = config.feeCollector !== undefined && due.grams >= LEAST_RECOVERED;
  return {
    created,
    minted: config.minter === undefined ? NO_CURRENCIES : toMint(cells, config, before.globalBalance),
    recovered: isWorth ? due : NO_CURRENCIES,
    feesImported: imported.fees,
    feesCollected,
    edited,
    burned: addCurrencies(cells, burned, lost),
  };
}

/** Extra currencies of which the configuration wants more than there are. */
function toMint(cells: CellStore, { toMint: wanted }: ChainConfig, there: CurrencyCollection): CurrencyCollection {
  if (wanted === undefined) return NO_CURRENCIES;
  const amounts = new Map(listExtraCurrencies(cells, there.extra).map(({ id, amount }) => [id, amount]));
  const missing = listExtraCurrencies(cells, wanted)
    .map(({ id, amount }) => ({ id, amount: amount - (amounts.get(id) ?? 0n) }))
    .filter(({ id, amount }) => id !== 0 && amount > 0n);
  return { grams: 0n, extra: storeExtraCurrencies(cells, missing) };
}

/** True when a block's money balances. Imported and created money equals money that stays, leaves, goes to validators, or is burned. */
export function isBalanced(cells: CellStore, flow: ValueFlow): boolean {
  const sum = (parts: readonly CurrencyCollection[]): CurrencyCollection =>
    parts.reduce((total, part) => addCurrencies(cells, total, part), NO_CURRENCIES);
  const { fromPrevBlock, imported, feesImported, created, minted, recovered } = flow;
  const inbound = sum([fromPrevBlock, imported, feesImported, created, minted, recovered]);
  const outbound = sum([flow.toNextBlock, flow.exported, flow.feesCollected, flow.burned ?? NO_CURRENCIES]);
  return inbound.grams === outbound.grams && inbound.extra === outbound.extra;
}
