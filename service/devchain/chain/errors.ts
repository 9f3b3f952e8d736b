import { TonplaneError } from '#service/error.ts';

/** Data of the development chain's error codes. */
export type DevchainErrorData = {
  /** The recording's folder or file is absent, cut, or contradicts itself. */
  recording_invalid: { readonly path: string };
  /** Refusal of a lite server, sent to the client as `liteServer.error` (service/liteserver/README.md#errors). */
  query_refused: { readonly serverCode: number };
  /** The server cannot listen at its configured address. */
  listen_failed: { readonly host: string; readonly port: number };
  /** The stored network's file is inconsistent; it is left unchanged. */
  kept_network_invalid: { readonly path: string };
  /** Another process runs the network of the folder. */
  network_in_use: { readonly folder: string };
  /** The origin network does not answer, and an account or library of it is needed. */
  fork_unreachable: { readonly needed: string };
  /** A request of a developer is impossible. The field names the part to change. */
  bad_argument: { readonly field: string };
  /** The faucet has more to do than it may have. */
  faucet_busy: { readonly retryAfterSeconds: number };
  /** No block takes a transfer of the faucet now. */
  faucet_paused: { readonly retryAfterSeconds: number };
  /** A method of a developer did not get its turn. */
  method_waits: { readonly running: string };
  /** The faucet's own wallet refused to send. */
  transfer_refused: Record<string, never>;
};

export type DevchainErrorCode = keyof DevchainErrorData;

/** Every error that the development chain raises on purpose. */
export class DevchainError<Code extends DevchainErrorCode = DevchainErrorCode> extends TonplaneError<
  Code,
  DevchainErrorData[Code]
> {}

/** The recording at `path` cannot be served. */
export function recordingInvalid(path: string, message: string, cause?: unknown): DevchainError<'recording_invalid'> {
  return new DevchainError({ code: 'recording_invalid', message, data: { path }, retryable: false, cause });
}

/** Creates the error for a stored network at `path` that cannot continue. */
export function keptNetworkInvalid(
  path: string,
  problem: string,
  cause?: unknown,
): DevchainError<'kept_network_invalid'> {
  const message = `the network stored in ${path} cannot be read: ${problem} Move the file away to begin a new network.`;
  return new DevchainError({ code: 'kept_network_invalid', message, data: { path }, retryable: false, cause });
}

/** Something of the forked network cannot be had. @param needed `account ADDRESS` or `library HASH` */
export function forkUnreachable(needed: string, cause: unknown): DevchainError<'fork_unreachable'> {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DevchainError({
    code: 'fork_unreachable',
    message: `${needed} was never read from the forked network, which does not answer now: ${reason}`,
    data: { needed },
    retryable: true,
    cause,
  });
}

/** A developer's request names something that cannot be. */
export function badArgument(field: string, problem: string, cause?: unknown): DevchainError<'bad_argument'> {
  return new DevchainError({
    code: 'bad_argument',
    message: `${field}: ${problem}`,
    data: { field },
    retryable: false,
    cause,
  });
}

/** Codes of the node's refusals (`ErrorCode` and plain `td::Status` errors, service/liteserver/README.md#errors). */
export const serverCode = {
  /** A status without a code. */
  generic: 0,
  /** An argument that cannot be served. */
  fatal: -400,
  /** The query's time is over. */
  deadline: -503,
  notReady: 651,
  timeout: 652,
  unknownQuery: 621,
} as const;

/** Creates a refusal with the node's text. The server answers it as `liteServer.error`. */
export function refusal(code: number, text: string): DevchainError<'query_refused'> {
  return new DevchainError({
    code: 'query_refused',
    message: text,
    data: { serverCode: code },
    retryable: code === serverCode.notReady || code === serverCode.timeout,
  });
}

/** True for what `refusal` makes. */
export function isRefusal(error: unknown): error is DevchainError<'query_refused'> {
  return error instanceof DevchainError && error.code === 'query_refused';
}
