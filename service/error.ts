/** Parts of an error that the service raises on purpose. */
export type ErrorDetails<Code extends string, Data> = {
  /** Stable, machine-readable, unique in the service; each module owns the codes it defines in its `errors.ts`. */
  readonly code: Code;
  /** A sentence for a person. Never holds a key, a password or another secret. */
  readonly message: string;
  /** Facts of the failure as plain values, safe to log. */
  readonly data: Data;
  /** True when the same call may succeed elsewhere or later. */
  readonly retryable: boolean;
  readonly cause?: unknown;
};

/**
 * Base of every error the service raises on purpose. Modules derive one class each, with a closed union of codes;
 * `http/error-status.ts` maps codes to HTTP in one table.
 */
export class TonplaneError<Code extends string = string, Data = unknown> extends Error {
  readonly code: Code;
  readonly data: Data;
  readonly retryable: boolean;

  constructor(details: ErrorDetails<Code, Data>) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = details.code;
    this.data = details.data;
    this.retryable = details.retryable;
  }
}
