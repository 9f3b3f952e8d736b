import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { DecodeError } from '#service/decode/errors.ts';
import type { AccountId, LiveAccount, LiveAccounts } from '../accounts/accounts.ts';
import { joinAnswers } from '#service/contract/answer.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { LiveConfiguration } from '../configuration/configuration.ts';
import { recognizeContract } from './known-contracts.ts';
import type { RecognizedContract } from './known-contracts.ts';
import { unlockedBalance } from './restricted-wallet.ts';

/** Account with tonlib's view of its contract. */
export type LiveExtendedAccount = {
  readonly account: LiveAccount;
  /** Undefined when the code is of no known kind. */
  readonly known: RecognizedContract | undefined;
  /** Nanotons that a restricted wallet may spend; the whole balance of any other account. */
  readonly unlockedBalance: bigint;
};

/** Reads accounts and the data of contracts with known code. Errors are the same as in LiveAccounts. */
export type LiveExtendedAccounts = {
  /** @param seqno masterchain seqno to read at; the served head when absent */
  readExtended(
    account: AccountId,
    seqno: number | undefined,
    context: ReadContext,
  ): Promise<LiveAnswer<LiveExtendedAccount>>;
};

export type ExtendedAccountsDependencies = {
  readonly accounts: LiveAccounts;
  readonly configuration: Pick<LiveConfiguration, 'readParam'>;
  /** Recognizes the contract of an account; by default by its code. */
  readonly recognize?: typeof recognizeContract;
};

/** Configuration parameter with the start time of restricted wallets that have no start time of their own. */
const RESTRICTED_WALLETS_START = -13;

export function createExtendedAccounts(dependencies: ExtendedAccountsDependencies): LiveExtendedAccounts {
  const { accounts, configuration, recognize = recognizeContract } = dependencies;

  return {
    async readExtended(id, seqno, context) {
      const answer = await accounts.readAccount(id, seqno, context);
      const account = answer.value;
      const { balance, shardUtime: utime } = account;
      const known = recognize(account);
      if (known?.contract.kind !== 'rwallet') {
        return joinAnswers({ account, known, unlockedBalance: balance }, [answer]);
      }
      const { wallet } = known.contract;
      if (wallet.startAt !== 0) {
        const unlocked = unlockedBalance(wallet, { balance, startAt: wallet.startAt, utime });
        return joinAnswers({ account, known, unlockedBalance: unlocked }, [answer]);
      }
      const at = account.masterchainBlock.seqno;
      const param = await configuration.readParam(RESTRICTED_WALLETS_START, at, context);
      const unlocked = unlockedBalance(wallet, { balance, startAt: readStart(param.value), utime });
      return joinAnswers({ account, known, unlockedBalance: unlocked }, [answer, param]);
    },
  };
}

/** `start_at:uint32`; 0 when the parameter is not set or too short, where the contract has no start. */
function readStart(param: Buffer | null): number {
  if (param === null) return 0;
  try {
    const table = parseBoc(param);
    return new CellSlice(table, table.roots[0]!).uint(32);
  } catch (error) {
    if (error instanceof DecodeError) return 0;
    throw error;
  }
}
