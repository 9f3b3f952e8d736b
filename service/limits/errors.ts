import { TonplaneError } from '../error.ts';

/**
 * Codes of LimitsError.
 * - `keyring_invalid`: the keyring file cannot be used.
 * - `limit_plan_unknown`: the anonymous plan or a key names a plan that does not exist.
 * - `revocation_failed`: the revocation did not reach Redis.
 */
export type LimitsErrorCode = 'keyring_invalid' | 'limit_plan_unknown' | 'revocation_failed';

/** Error for limits that cannot start as configured. Contains ids of keys, never keys. A refused request is a `Refused` decision, not an error. */
export class LimitsError extends TonplaneError<LimitsErrorCode, { readonly problems: readonly string[] }> {
  constructor(code: LimitsErrorCode, problems: readonly string[]) {
    super({ code, message: problems.join('\n'), data: { problems }, retryable: false });
  }
}
