import { readDictionary, type Reader } from '../cells.ts';
import { group, inRef, maybeRoot, plain, readFields } from './read-fields.ts';
import type { ConfigValue, Named } from './values.ts';

/** `oracle_bridge_params`: a bridge of TON itself. The schema's `oracle_mutlisig_address` is written out here. */
export function oracleBridge(reader: Reader): ConfigValue {
  const head = readFields(reader, 'bridge_address:account oracle_multisig_address:account');
  const list = oracles(reader);
  return group([...head, ...readFields(reader, 'external_chain_address:hash'), list]);
}

/** `jetton_bridge_params`: a bridge of tokens. */
export function jettonBridge(reader: Reader): ConfigValue {
  const tag = Number(reader.uint(8));
  if (tag > 1) throw new Error('an unknown tag');
  const head = readFields(reader, 'bridge_address:account oracles_address:account');
  const list = oracles(reader);
  const flags = readFields(reader, 'state_flags:u8');
  if (tag === 0) return group([...head, ...flags, ...readFields(reader, 'burn_bridge_fee:coins'), list]);
  const pricesValue = inRef(reader, prices);
  return group([
    ...head,
    ...flags,
    ...readFields(reader, 'external_chain_address:hash'),
    ['prices', pricesValue],
    list,
  ]);
}

const prices = plain(
  'bridge_burn_fee:coins bridge_mint_fee:coins wallet_min_tons_for_storage:coins wallet_gas_consumption:coins ' +
    'minter_min_tons_for_storage:coins discover_gas_consumption:coins',
);

/** Oracles by the id of their account, with their address in the other chain. */
function oracles(reader: Reader): Named {
  const root = maybeRoot(reader);
  const entries = root === undefined ? [] : readDictionary(root, 256);
  const items = entries.map(([key, value]) => {
    const hex = key.toString(16).padStart(64, '0');
    return group([['oracle', { kind: 'hash', hex }], ...readFields(value, 'address_in_the_other_chain:hash')]);
  });
  return ['oracles', { kind: 'list', items }];
}
