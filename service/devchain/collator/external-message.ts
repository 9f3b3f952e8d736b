import type { InternalInfo } from '#service/decode/tlb/message.ts';

/** A message from outside, checked for its form. */
export type ExternalMessage = {
  /** The message as a bag of cells in base64. */
  readonly text: string;
  readonly destination: { readonly workchain: number; readonly id: Buffer };
};

/** Outcome of an external message. */
export type ExternalOutcome =
  | {
      readonly kind: 'included';
      readonly transaction: Buffer;
      readonly lt: bigint;
      /** Internal messages that the transaction sent. An account may take a message and still fail to send. */
      readonly sent: readonly InternalInfo[];
      /** Result code of the action phase; undefined when there was none. */
      readonly actionCode: number | undefined;
    }
  | { readonly kind: 'rejected'; readonly error: string; readonly exitCode: number | undefined; readonly log: string };
