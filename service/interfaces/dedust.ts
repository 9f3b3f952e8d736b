import { openContractCell } from '../decode/contract-data.ts';
import { DecodeError } from '../decode/errors.ts';
import { hashesOfCode } from '../decode/known-codes.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import { cellOfSlice } from '../tvm/stack.ts';
import type { StackWindow } from '../tvm/stack.ts';
import { isNamed } from './address-entry.ts';
import type { Family } from './family.ts';
import { rawOrNull } from './raw-address.ts';
import { int, slice, stackShape } from './stack-shape.ts';

/** Contract that deploys pools. */
const FACTORY: AccountId = {
  workchain: 0,
  id: Buffer.from('5f0564fb5f604783db57031ce1cf668a88d4d4d6da6de4db222b4b920d6fd800', 'hex'),
};

const pair = stackShape({ first: slice, second: slice });
const numbers = stackShape({ first: int, second: int });
const kind = stackShape({ isStable: int });

/** Pool of DeDust v2. Anyone can deploy its code, so the factory has to confirm it. */
export const dedustPools: Family = {
  kind: 'dedust_pool',
  codeHashes: hashesOfCode('dedust_pool'),
  needs: ['get_assets', 'is_stable', 'get_reserves', 'get_trade_fee'],
  async detect({ account, answers }, around) {
    const said = pair(answers('get_assets'));
    const assets = said && [readAsset(said.first), readAsset(said.second)];
    const stable = kind(answers('is_stable'));
    const known = assets?.filter((asset) => asset !== undefined) ?? [];
    if (said === undefined || stable === undefined || known.length !== 2) return 'malformed';
    if (numbers(answers('get_reserves')) === undefined) return 'malformed';
    if (numbers(answers('get_trade_fee')) === undefined) return 'malformed';
    const raw = known.map(rawOrNull);
    const stack = [{ type: 'int' as const, value: stable.isStable }, said.first, said.second];
    const isConfirmed = await around.consult({
      by: FACTORY,
      about: `${stable.isStable} ${raw.join(' ')}`,
      asks: [{ method: 'get_pool_address', stack }],
      read: (factory) => isNamed(factory('get_pool_address'), account),
      weigh: () => 0,
    });
    return isConfirmed === true ? { facts: { dedustPool: { assets: raw } } } : 'unconfirmed';
  },
};

/** `native$0000`, `jetton$0001 workchain:int8 address:uint256`; null for TON, undefined for any other value. */
function readAsset(window: StackWindow): AccountId | null | undefined {
  try {
    const rest = openContractCell(cellOfSlice(window));
    const form = rest.uint(4);
    if (form === 0) return null;
    return form === 1 ? { workchain: rest.int(8), id: rest.hash() } : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
