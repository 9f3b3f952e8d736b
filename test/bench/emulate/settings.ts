import type { ServerSettings } from '../v2/contender.ts';

/** A network whose head stands, and messages that its wallets would send. */
export type EmulateNetwork = ServerSettings & {
  /** Bag of cells of the configuration, base64. */
  readonly config: string;
  /** Unix seconds of the head. */
  readonly utime: number;
  /** Messages from outside, base64: a transfer of jettons with 6 transactions, a plain transfer with 2. */
  readonly jettons: string;
  readonly plain: string;
};

/** Body of a request to `emulateTrace`, as far as both servers read it. */
export type EmulateBody = { readonly boc: string };

/** Part of an answer that both servers have. */
export type EmulateAnswer = { readonly transactions: object };
