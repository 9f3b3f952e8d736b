import { TonplaneError } from '../error.ts';

/**
 * What went wrong with one query at one lite server. From the lite server's own error (lite server sheet 6):
 * - `lagging`: it has not got that far yet; ask another, or this one later.
 * - `pruned`: it keeps no such data (any more); ask another, one with a deeper archive.
 * - `overloaded`: it had no time or took no more; ask another and spare this one.
 * - `unsupported`: it does not know or allow the function; ask another.
 * - `rejected`: the sent message was refused by the chain's rules.
 * - `duplicate`: the sent message was seen before: after an own broadcast it is delivered.
 * - `client`: the arguments are wrong; nobody would answer otherwise.
 * - `server_fault`: it failed inside; ask another.
 *
 * From this side:
 * - `protocol`: the answer is not what the protocol allows.
 * - `timeout`: no answer before the deadline (also the lite server's own 652).
 * - `unreachable`: no connection, or the connection broke before the answer.
 * - `busy`: too many queries are in flight here already; nothing was sent.
 * - `closed`: this lite server was closed by us.
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
  /** Code of the lite server's error; undefined when the error is ours. */
  readonly serverCode: number | undefined;
  /** The lite server's words, cut to `textCharsMax`, or ours. */
  readonly text: string;
  /** The function asked, without `liteServer.`; `unknown` when the request's id is none of ours. */
  readonly function: string;
};

/** The longest real text is a truncated VM log of a refused message, below 1,000 characters. */
const textCharsMax = 2048;

const final: ReadonlySet<LiteServerErrorCode> = new Set(['rejected', 'duplicate', 'client', 'aborted']);

/** One query at one lite server failed. `retryable` means: elsewhere, or here later. */
export class LiteServerError extends TonplaneError<LiteServerErrorCode, LiteServerErrorData> {
  constructor(code: LiteServerErrorCode, data: LiteServerErrorData, cause?: unknown) {
    const text = data.text.length > textCharsMax ? data.text.slice(0, textCharsMax) : data.text;
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

/** The typed error for what a lite server answered. */
export function answeredError(functionName: string, serverCode: number, text: string): LiteServerError {
  return new LiteServerError(classify(functionName, serverCode, text), { serverCode, text, function: functionName });
}

/** What a server appends to 651 when the asked block is beyond what it has. */
const lagSuffix = /\((?:last known masterchain block: |possibly out of sync: )/;

/** 651 without a suffix, yet about the server's head and not about its archive. */
const notYet = /too big masterchain block seqno|not started|is not applied|too future block/;

/** Data that an archive would have, under a code that otherwise means wrong arguments. */
const absentData = /not in db|not found|cannot compute block|cannot load block/;

/**
 * The class of a lite server's error, by its code and text (lite server sheet 6). Texts are matched because codes alone
 * do not tell: -400 is both "your argument is wrong" and "my archive ends before that".
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

/** Code -400: argument errors, data that is gone, and a broken configuration. */
function classifyFatal(text: string): LiteServerErrorCode {
  if (lagSuffix.test(text) || text.includes('newer than the reference masterchain block')) return 'lagging';
  if (absentData.test(text)) return 'pruned';
  if (text.includes('cannot unpack extra header of key block')) return 'server_fault';
  return 'client';
}

/** Code 0: whatever was raised inside the node without a code. */
function classifyGeneric(functionName: string, text: string): LiteServerErrorCode {
  if (functionName === 'sendMessage') return 'rejected';
  if (text.includes('query is not allowed')) return 'unsupported';
  // A shard block that no masterchain block known to this server refers to.
  if (text.includes("doesn't have masterchain ref")) return 'lagging';
  // A shard block that the masterchain refers to later than the block it shall be proved against.
  if (text.includes("older than block's masterchain ref")) return 'lagging';
  if (lagSuffix.test(text)) return 'lagging';
  if (absentData.test(text)) return 'pruned';
  if (/Not enough data to read|Too much data to fetch|Wrong constructor|Unknown constructor/i.test(text))
    return 'client';
  return 'server_fault';
}
