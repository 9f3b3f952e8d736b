import { TonplaneError } from '../error.ts';

/**
 * Codes of a failed query to one lite server.
 *
 * Codes from the lite server's own error (service/liteserver/README.md#errors).
 * - `lagging`: it has not got that far yet; ask another, or this one later.
 * - `pruned`: it has no such data (any more); ask another with a deeper archive.
 * - `overloaded`: it had no time or took no more; ask another and spare this one.
 * - `unsupported`: it does not know or allow the function; ask another.
 * - `rejected`: the sent message was refused by the chain's rules.
 * - `duplicate`: the sent message was seen before; after an own broadcast it is delivered.
 * - `client`: the arguments are wrong; every other server would answer the same.
 * - `server_fault`: it failed inside; ask another.
 *
 * Codes from this side.
 * - `protocol`: the protocol does not allow the answer.
 * - `timeout`: no answer before the deadline (also the lite server's own 652).
 * - `unreachable`: no connection, or the connection broke before the answer.
 * - `busy`: too many queries are in flight here already; nothing was sent.
 * - `closed`: this service closed the lite server.
 * - `aborted`: the caller gave up.
 */
export type LiteServerErrorCode =
  | 'lagging'
  | 'pruned'
  | 'overloaded'
  | 'unsupported'
  | 'rejected'
  | 'duplicate'
  | 'client'
  | 'server_fault'
  | 'protocol'
  | 'timeout'
  | 'unreachable'
  | 'busy'
  | 'closed'
  | 'aborted';

export type LiteServerErrorData = {
  /** Code of the lite server's error; undefined for an error of this side. */
  readonly serverCode: number | undefined;
  /** Text of the lite server, cut to `TEXT_CHARS_MAX`, or of this side. */
  readonly text: string;
  /** Requested function, without `liteServer.`; `unknown` when the request's id is unknown. */
  readonly function: string;
};

/** Most characters of a text. The longest real one is a truncated VM log of a refused message, below 1,000 characters. */
const TEXT_CHARS_MAX = 2048;

const final: ReadonlySet<LiteServerErrorCode> = new Set(['rejected', 'duplicate', 'client', 'aborted']);

/** Error for one failed query to one lite server. `retryable` means at another server, or here later. */
export class LiteServerError extends TonplaneError<LiteServerErrorCode, LiteServerErrorData> {
  constructor(code: LiteServerErrorCode, data: LiteServerErrorData, cause?: unknown) {
    const text = data.text.length > TEXT_CHARS_MAX ? data.text.slice(0, TEXT_CHARS_MAX) : data.text;
    const said = data.serverCode === undefined ? text : `the lite server answered ${data.serverCode}: ${text}`;
    super({
      code,
      message: `${data.function}: ${said}`,
      data: { ...data, text },
      retryable: !final.has(code),
      cause,
    });
  }
}

/** Returns the typed error for a lite server's error answer. */
export function answeredError(functionName: string, serverCode: number, text: string): LiteServerError {
  return new LiteServerError(classify(functionName, serverCode, text), { serverCode, text, function: functionName });
}

/** Suffix that a server appends to 651 when the requested block is beyond its head. */
const lagSuffix = /\((?:last known masterchain block: |possibly out of sync: )/;

/** Texts of 651 without a suffix that are about the server's head, not about its archive. */
const notYet = /too big masterchain block seqno|not started|is not applied|too future block/;

/** Texts for data that an archive would have, under a code that otherwise means wrong arguments. */
const absentData = /not in db|not found|cannot compute block|cannot load block/;

/**
 * Classifies a lite server's error by its code and text (service/liteserver/README.md#errors). Texts are needed because codes are ambiguous: -400
 * means both wrong arguments and data before the archive's start.
 */
export function classify(functionName: string, serverCode: number, text: string): LiteServerErrorCode {
  if (/duplicate message|Duplicate msg_seqno/.test(text)) return 'duplicate';
  if (text.includes('too many pending external message checks')) return 'overloaded';
  const rejectable = functionName === 'sendMessage' && /^cannot (?:apply|send) external message/.test(text);
  switch (serverCode) {
    case 651:
      if (rejectable && !absentData.test(text) && !lagSuffix.test(text)) return 'rejected';
      return lagSuffix.test(text) || notYet.test(text) ? 'lagging' : 'pruned';
    case 652:
      return 'timeout';
    case -503:
    case 429:
    case 228:
    case 502:
      return 'overloaded';
    case 410:
      return 'pruned';
    case 411:
      return 'lagging';
    case 621:
      return 'unsupported';
    case -400:
      return classifyFatal(text);
    case 0:
      return rejectable ? 'rejected' : classifyGeneric(functionName, text);
    default:
      return rejectable ? 'rejected' : 'server_fault';
  }
}

/** Classifies code -400: argument errors, missing old data, and a broken configuration. */
function classifyFatal(text: string): LiteServerErrorCode {
  if (lagSuffix.test(text) || text.includes('newer than the reference masterchain block')) return 'lagging';
  if (absentData.test(text)) return 'pruned';
  if (text.includes('cannot unpack extra header of key block')) return 'server_fault';
  return 'client';
}

/** Classifies code 0: errors raised inside the node without a code. */
function classifyGeneric(functionName: string, text: string): LiteServerErrorCode {
  if (functionName === 'sendMessage') return 'rejected';
  if (text.includes('query is not allowed')) return 'unsupported';
  // No masterchain block known to this server refers to the shard block.
  if (text.includes("doesn't have masterchain ref")) return 'lagging';
  // The masterchain refers to the shard block later than in the block of the proof.
  if (text.includes("older than block's masterchain ref")) return 'lagging';
  if (lagSuffix.test(text)) return 'lagging';
  if (absentData.test(text)) return 'pruned';
  if (/Not enough data to read|Too much data to fetch|Wrong constructor|Unknown constructor/i.test(text))
    return 'client';
  return 'server_fault';
}
