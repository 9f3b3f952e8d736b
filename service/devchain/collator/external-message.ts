/** A message from outside, checked for its form. */
export type ExternalMessage = {
  /** The message as a bag of cells in base64. */
  readonly text: string;
  readonly destination: { readonly workchain: number; readonly id: Buffer };
};

/** Outcome of an external message. */
export type ExternalOutcome =
  | { readonly kind: 'included'; readonly transaction: Buffer; readonly lt: bigint }
  | { readonly kind: 'rejected'; readonly error: string; readonly exitCode: number | undefined; readonly log: string };
