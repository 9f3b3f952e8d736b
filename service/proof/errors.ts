import { TonplaneError } from '../error.ts';

/** What a proof that does not hold is refused for. Each names one rule of the lite server sheet, section 8. */
export type ProofErrorCode =
  /** The answer is about another block, account or transaction than the asked one. */
  | 'wrong_id'
  /** Bytes that are not what the rule says: no BoC, another number of roots, another constructor, a cut value. */
  | 'malformed'
  /** A root is not a Merkle proof, or its stored hash or depth is not that of the cell below it (8.1). */
  | 'bad_merkle_proof'
  /** A recomputed hash is not the one that was proved or asked. */
  | 'hash_mismatch'
  /** A cell that the check has to read is pruned: the proof shows too little. */
  | 'incomplete_proof'
  /** A proved field contradicts the answer: seqno, shard, workchain, a flag, a time. */
  | 'wrong_field'
  /** A dictionary that was fully shown does not hold what the answer claims, or holds what it denies. */
  | 'not_contained'
  /** The validator set of the configuration is not well formed, or not the one the block names. */
  | 'bad_validator_set'
  /** The signature set is not well formed, or is for another block, session or catchain. */
  | 'bad_signature_set'
  | 'unknown_signer'
  | 'duplicate_signer'
  | 'bad_signature'
  | 'not_enough_weight'
  /** Links of a block proof do not follow each other from the asked block to the claimed one. */
  | 'chain_gap'
  /** A block proof ends before its target without coming closer, or claims to be complete elsewhere. */
  | 'no_progress'
  /** A chain ends at another zerostate than the configured one: another network. */
  | 'wrong_zerostate'
  /** Another block than the trusted one stands at its seqno: another network or a fork. */
  | 'fork';

/** Plain facts about a refusal, safe to log. */
export type ProofErrorData = {
  /** What was being checked, such as `accountState.proof`. */
  readonly subject: string;
  readonly expected?: string;
  readonly found?: string;
};

/**
 * An answer's proof does not hold: the lite server that gave it lies or is broken. Always retryable, elsewhere.
 * Faults of our own side are {@link ProofUnavailableError}, so that no lite server is blamed for them.
 */
export class ProofError extends TonplaneError<ProofErrorCode, ProofErrorData> {
  constructor(code: ProofErrorCode, data: ProofErrorData, cause?: unknown) {
    super({ code, message: describe(code, data), data, retryable: true, cause });
  }
}

/** Why a check could not be carried through here, whatever the answer was worth. */
export type ProofUnavailableCode =
  /** The checker was closed while or before the check ran. */
  | 'proof_closed'
  /** More checks wait than the queue may hold. */
  | 'proof_overloaded'
  /** The thread that checks signatures died. */
  | 'proof_worker_failed'
  /** Every caller that waited for the check went away. */
  | 'proof_aborted'
  /** The target is further from the trusted blocks than the bound on rounds lets it be proved in one call. */
  | 'proof_too_far';

/** A check that could not be made. No lite server's fault; nothing was accepted. */
export class ProofUnavailableError extends TonplaneError<ProofUnavailableCode, { readonly detail: string }> {
  constructor(code: ProofUnavailableCode, detail: string, cause?: unknown) {
    super({ code, message: `${code}: ${detail}`, data: { detail }, retryable: code !== 'proof_closed', cause });
  }
}

function describe(code: ProofErrorCode, data: ProofErrorData): string {
  const expected = data.expected === undefined ? '' : `, expected ${data.expected}`;
  const found = data.found === undefined ? '' : `, found ${data.found}`;
  return `${data.subject}: ${code}${expected}${found}`;
}
