import { readCatchainConfig } from '../decode/tlb/config-28.ts';
import { findConfigParam } from '../decode/tlb/config-params.ts';
import { readValidatorSet } from '../decode/tlb/validator-set.ts';
import type { ProvedConfig } from './config-proof.ts';
import { ProofError } from './errors.ts';
import type { Validator } from '../decode/validator-session.ts';
import { masterchainValidators } from '../decode/validator-session.ts';

const CATCHAIN_CONFIG = 28;
const CURRENT_VALIDATORS = 34;
/** Parameter that replaces parameter 34 for a while after an election, when keys were replaced. */
const CURRENT_TEMPORARY_VALIDATORS = 35;

/**
 * Returns the masterchain's validators of one session by a proved configuration (service/proof/README.md#validator-set).
 * @throws ProofError `bad_validator_set`; DecodeError
 */
export function readSessionValidators({ table, config }: ProvedConfig, catchainSeqno: number): readonly Validator[] {
  const current =
    findConfigParam(table, config.root, CURRENT_TEMPORARY_VALIDATORS) ??
    findConfigParam(table, config.root, CURRENT_VALIDATORS);
  if (current === undefined) {
    throw new ProofError('bad_validator_set', { subject: 'config', expected: 'parameter 34' });
  }
  const catchain = findConfigParam(table, config.root, CATCHAIN_CONFIG);
  const shuffle = catchain !== undefined && readCatchainConfig(table, catchain).shuffleMasterchainValidators;
  const { list, main } = readValidatorSet(table, current);
  return masterchainValidators(list, main, shuffle, catchainSeqno);
}
