import { TonplaneError } from '../error.ts';

/** Reasons for refusing a proof. Each is a rule of service/proof/README.md#what-is-proved. */
export type ProofErrorCode =
  /** The answer is about another block, account or transaction than the requested one. */
  | 'wrong_id'
  /** Bytes that break the rule: no BoC, another number of roots, another constructor, a cut value. */
  | 'malformed'
  /** A root is no Merkle proof, or its stored hash or depth differs from that of the cell below it. */
  | 'bad_merkle_proof'
  /** A recomputed hash is not the proved or requested one. */
  | 'hash_mismatch'
  /** A cell that the check has to read is pruned, so the proof shows too little. */
  | 'incomplete_proof'
  /** A proved field contradicts the answer: seqno, shard, workchain, a flag, a time. */
  | 'wrong_field'
  /** A fully shown dictionary lacks an entry that the answer claims, or has one that the answer denies. */
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
  /** A block proof ends before its target without coming closer, or claims to be complete at another block. */
  | 'no_progress'
  /** A chain ends at another zero state than the configured one: another network. */
  | 'wrong_zerostate'
  /** Another block than the trusted one is at its seqno: another network or a fork. */
  | 'fork';

/** Facts about a refusal, safe to log. */
export type ProofErrorData = {
  /** Checked part, such as `accountState.proof`. */
  readonly subject: string;
  readonly expected?: string;
  readonly found?: string;
};

/**
 * Error for an answer whose proof fails: the lite server lies or is broken. Always retryable at another server. Faults of this service are {@link
 * ProofUnavailableError}, so that no lite server is at fault for them.
 */
export class ProofError extends TonplaneError<ProofErrorCode, ProofErrorData> {
  constructor(code: ProofErrorCode, data: ProofErrorData, cause?: unknown) {
    super({ code, message: describe(code, data), data, retryable: true, cause });
  }
}

/** Reasons why a check could not be completed here, whatever the answer. */
export type ProofUnavailableCode =
  /** The checker was closed while or before the check ran. */
  | 'proof_closed'
  /** More checks wait than the queue allows. */
  | 'proof_overloaded'
  /** The thread that checks signatures died. */
  | 'proof_worker_failed'
  /** Every caller that waited for the check went away. */
  | 'proof_aborted'
  /** The target is further from the trusted blocks than the bound on rounds allows in one call. */
  | 'proof_too_far';

/** Error for a check that could not be made. No lite server is at fault, and nothing was accepted. */
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
