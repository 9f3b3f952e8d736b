import { formatRawAddress } from '#service/decode/address.ts';
import type { AccountId } from '../accounts/accounts.ts';
import type { ChainSnapshot } from '../contracts/chain-snapshot.ts';
import { askResolver } from './dns.ts';
import { LiveError } from '../errors.ts';

/** Zone whose items return their whole names. Items of other zones return a label. */
export const TELEGRAM_ZONE = 't.me';

/** Collections whose items are names, by network (service/interfaces/README.md#names). */
const COLLECTIONS = {
  mainnet: {
    '0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF': 'ton',
    '0:80D78A35F955A14B679FAA887FF4CD5BFC0F43B4A4EEA2A7E6927F3701B273C2': TELEGRAM_ZONE,
  },
  testnet: { '0:E33ED33A42EB2032059F97D90C706F8400BB256D32139CA707F1564AD699C7DD': 'ton' },
} as const;

/** Zones that a private network's root of names delegates. */
const OWN_ZONES = ['ton', TELEGRAM_ZONE];

export type ZonesOptions = {
  /** Network. In a custom network the collections are those that its root of names (configuration parameter 4) delegates to. */
  readonly network: 'mainnet' | 'testnet' | 'custom';
  /** Further collections, each with the zone of its items' names, e.g. `ton` for `foo.ton`. */
  readonly domainCollections?: readonly { readonly collection: AccountId; readonly zone: string }[];
};

/** A block at which the root of names is read. */
export type ZonesWorld = Pick<ChainSnapshot, 'runMethod' | 'readDnsRoot'>;

/** Returns the zone of the names of a collection's items. */
export type Zones = (world: ZonesWorld, collection: AccountId) => Promise<string | undefined>;

export function createZones({ network, domainCollections = [] }: ZonesOptions): Zones {
  const known = new Map<string, string>(network === 'custom' ? [] : Object.entries(COLLECTIONS[network]));
  for (const { collection, zone } of domainCollections) known.set(formatRawAddress(collection, 'upper'), zone);

  return async (world, collection) => {
    const raw = formatRawAddress(collection, 'upper');
    const zone = known.get(raw);
    if (zone !== undefined || network !== 'custom') return zone;
    const root = await world.readDnsRoot();
    if (root === undefined) return undefined;
    for (const own of OWN_ZONES) {
      const delegate = await readDelegate(world, root, own);
      if (delegate !== undefined && formatRawAddress(delegate, 'upper') === raw) return own;
    }
    return undefined;
  };
}

/** Returns the contract to which the root of names delegates a zone. */
async function readDelegate(world: ZonesWorld, root: AccountId, zone: string): Promise<AccountId | undefined> {
  try {
    const { entries } = await askResolver(world, root, `${zone}.`);
    const whole = entries.filter(({ name }) => name === zone || name === `${zone}.`);
    const record = whole.map((entry) => entry.record).find(({ kind }) => kind === 'nextResolver');
    return record?.kind === 'nextResolver' ? record.resolver : undefined;
  } catch (error) {
    if (error instanceof LiveError) return undefined;
    throw error;
  }
}
