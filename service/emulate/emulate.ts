import type { Operation } from '../contract/operation.ts';
import type { V3Request } from '../v3/request/operation.ts';
import { contractVersion } from '../v3/v3.ts';

/** An operation of the emulation. Its form is that of v3. */
export type EmulateOperation = Operation<V3Request>;

/** The emulation contract: a table of operations, no transport. */
export type Emulate = {
  /** For `X-API-Version` and the document: that of v3, whose objects the answers have. */
  readonly version: string;
  /** Each operation once, in the order of the document. */
  readonly operations: readonly EmulateOperation[];
};

/** Builds the table. */
export function createEmulate(operations: readonly EmulateOperation[]): Emulate {
  return { version: contractVersion, operations };
}
