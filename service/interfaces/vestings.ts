import { openContractCell, walkDictionary } from '../decode/contract-data.ts';
import { DecodeError } from '../decode/errors.ts';
import { hashesOfCode } from '../decode/known-codes.ts';
import type { StackCell } from '../tvm/stack.ts';
import { accountKey } from '../store/account-key.ts';
import type { Family } from './family.ts';
import { account, cellOrNull, int, stackShape, uint63 } from './stack-shape.ts';

const vestingData = stackShape({
  startTime: uint63,
  totalDuration: uint63,
  unlockPeriod: uint63,
  cliffDuration: uint63,
  totalAmount: int,
  sender: account,
  owner: account,
  /** Whitelist; null without accounts. */
  whitelist: cellOrNull,
});

/** Bits of a key: workchain and id. */
const KEY_BITS = 8 + 256;

/** Most accounts of one whitelist; adding each costs gas. */
const WHITELIST_MAX = 4096;

/** Vesting wallet of ton-blockchain/vesting-contract. */
export const vestings: Family = {
  kind: 'vesting',
  codeHashes: hashesOfCode('wallet_vesting'),
  needs: ['get_vesting_data'],
  detect({ key, state, answers }) {
    const data = vestingData(answers('get_vesting_data'));
    const whitelist = data && (data.whitelist === null ? [] : readWhitelist(data.whitelist));
    if (whitelist === undefined) return 'malformed';
    const { startTime, totalDuration, unlockPeriod, cliffDuration, totalAmount, sender, owner } = data!;
    const vestingContract = {
      address: key,
      start_time: startTime,
      total_duration: totalDuration,
      unlock_period: unlockPeriod,
      cliff_duration: cliffDuration,
      total_amount: totalAmount,
      sender: accountKey(sender),
      owner: accountKey(owner),
      whitelist,
      ...state,
    };
    return { vestingContract };
  },
};

/** Reads the accounts that are the keys of a dictionary, ascending. */
function readWhitelist(root: StackCell): Buffer[] | undefined {
  const found: Buffer[] = [];
  try {
    walkDictionary(openContractCell(root), KEY_BITS, (key) => {
      found.push(accountKey({ workchain: key.readInt8(0), id: key.subarray(1) }));
      return found.length < WHITELIST_MAX;
    });
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
  return found.toSorted((a, b) => a.compare(b));
}
