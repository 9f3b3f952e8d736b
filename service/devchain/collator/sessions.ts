import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { Validator } from '#service/decode/validator-session.ts';
import { masterchainValidators, shardValidators, validatorSetHash } from '#service/decode/validator-session.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { ChainConfig } from './chain-config.ts';

/** Validators that make and sign the blocks of a chain for some time. */
export type Session = {
  readonly catchainSeqno: number;
  readonly validators: readonly Validator[];
  /** Hash of the validator list, as in block headers. */
  readonly listHash: number;
};

/** The session of a chain that the configuration and a catchain seqno decide. */
export function sessionOf({ validators, catchain }: ChainConfig, shard: ShardIdent, catchainSeqno: number): Session {
  const { list, main } = validators;
  const chosen =
    shard.workchain === MASTERCHAIN
      ? masterchainValidators(list, main, catchain.shuffleMasterchainValidators, catchainSeqno)
      : shardValidators(list, catchain.shardValidators, shard, catchainSeqno);
  return { catchainSeqno, validators: chosen, listHash: validatorSetHash(catchainSeqno, chosen) };
}
