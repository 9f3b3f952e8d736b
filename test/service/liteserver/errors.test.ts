import { describe, expect, it } from 'vitest';
import type { LiteServerErrorCode } from '#service/liteserver/errors.ts';
import { answeredError, classify } from '#service/liteserver/errors.ts';
import { errorAnswer } from '#service/liteserver/tl/envelope.ts';
import { recordedExchanges } from './recorded-node.ts';
import { skipLoudly } from '#test/support/skips.ts';

type Row = readonly [functionName: string, code: number, text: string, expected: LiteServerErrorCode];

const block = '(-1,8000000000000000,1000):11:22';
const lastKnown = ' (last known masterchain block: 1271)';
const outOfSync = ' (possibly out of sync: shard_client_seqno=1271 ls_seqno=1280)';
const apply = 'cannot apply external message to current state : ';

// Every text of service/liteserver/README.md#errors.
const documented: readonly Row[] = [
  ['getBlock', 651, `block ${block} is not in db`, 'pruned'],
  ['getBlock', 651, `block ${block} is not in db${lastKnown}`, 'lagging'],
  ['getBlock', 651, `block ${block} is not applied`, 'lagging'],
  ['lookupBlock', 651, 'cannot find block (0,8000000000000000) seqno=5: seqno not in db', 'pruned'],
  ['lookupBlock', 651, 'cannot find block (0,8000000000000000) lt=5: ltdb: block not found', 'pruned'],
  ['lookupBlock', 651, `cannot find block (0,8000000000000000) lt=5: ltdb: block not found${lastKnown}`, 'lagging'],
  ['lookupBlock', 651, 'cannot find block (0,8000000000000000) lt=5: lt not in db', 'pruned'],
  ['lookupBlock', 651, 'cannot find block (0,8000000000000000) utime=5: ts not in db', 'pruned'],
  ['lookupBlock', 651, "cannot find block (0,8000000000000000) seqno=5: package already gc'd", 'pruned'],
  ['getAccountState', 651, `state ${block} not in db`, 'pruned'],
  ['getShardInfo', 651, `state ${block} not in db${outOfSync}`, 'lagging'],
  ['getMasterchainInfo', 651, 'too big masterchain block seqno', 'lagging'],
  ['getMasterchainInfo', 651, 'not started', 'lagging'],
  ['sendMessage', 651, 'too many pending external message checks', 'overloaded'],
  ['getMasterchainInfo', 652, 'timeout', 'timeout'],
  ['getBlock', 652, 'adnl query timeout', 'timeout'],
  ['getBlock', -503, 'timeout', 'overloaded'],
  ['getBlock', -400, 'invalid BlockIdExt', 'client'],
  ['runSmcMethod', -400, 'unsupported mode in runSmcMethod', 'client'],
  ['getOneTransaction', -400, 'requested account id is not contained in the shard of the specified block', 'client'],
  ['getTransactions', -400, 'transaction hash mismatch', 'client'],
  ['getTransactions', -400, 'cannot compute block with specified transaction: ltdb: block not in db', 'pruned'],
  ['getTransactions', -400, `cannot load block ${block} with specified transaction: gone`, 'pruned'],
  ['getTransactions', -400, 'cannot locate transaction in block with specified logical time', 'client'],
  ['getConfigAll', -400, `cannot unpack extra header of key block ${block}`, 'server_fault'],
  ['sendMessage', 0, `${apply}External message was not accepted: exitcode=133`, 'rejected'],
  ['sendMessage', 0, `${apply}Duplicate msg_seqno 12`, 'duplicate'],
  ['sendMessage', 0, `${apply}too many external messages to address 0:11`, 'rejected'],
  ['sendMessage', 0, 'cannot send external message : duplicate message', 'duplicate'],
  ['getShardBlockProof', 0, "block doesn't have masterchain ref", 'lagging'],
  ['nonfinal.getPendingShardBlocks', 0, 'query is not allowed', 'unsupported'],
  ['getBlock', 0, 'Not enough data to read at 0', 'client'],
  ['getVersion', 621, 'unknown query', 'unsupported'],
  ['getBlock', 653, 'cancelled', 'server_fault'],
  ['getBlock', 601, 'failure', 'server_fault'],
  ['getBlock', 602, 'error', 'server_fault'],
  ['getBlock', 603, 'warning', 'server_fault'],
  ['getBlock', -666, 'internal', 'server_fault'],
  ['getBlock', -668, 'internal', 'server_fault'],
  ['getBlock', -669, 'internal', 'server_fault'],
  ['getBlock', 429, 'too many requests', 'overloaded'],
  ['getBlock', 502, 'backend node timeout', 'overloaded'],
  ['getBlock', 400, 'canceled', 'server_fault'],
  ['getBlock', 410, 'too old master info requested', 'pruned'],
  ['getBlock', 411, 'too future block', 'lagging'],
  ['getBlock', 228, 'too many requests', 'overloaded'],
  ['getBlock', 12345, 'never seen before', 'server_fault'],
  ['getBlock', 0, 'never seen before', 'server_fault'],
];

// Texts of the recorded node that are not in the README, by a distinctive part.
const recorded: readonly (readonly [text: RegExp, expected: LiteServerErrorCode])[] = [
  [/\(last known masterchain block: |\(possibly out of sync: /, 'lagging'],
  [/^not in db$|^block handle not in db$| : block handle not in db$|: seqno not in db$/, 'pruned'],
  [/newer than the reference masterchain block/, 'lagging'],
  [/is unknown from the perspective of reference block/, 'client'],
  [/must belong to the masterchain|with respect to a masterchain block only/, 'client'],
  [/exactly one of mode|^unsupported getMasterchainInfo mode$|cannot deserialize parameter list boc/, 'client'],
  [/^requested account id is not|^cannot locate transaction|^transaction hash mismatch$/, 'client'],
  [/^too big masterchain block seqno$/, 'lagging'],
  [/^timeout$/, 'timeout'],
  [/^query is not allowed$/, 'unsupported'],
  [/^cannot apply external message to current state : /, 'rejected'],
];

describe('an error of a lite server', () => {
  it.each(documented)('the error of %s, %i %s, is %s', (functionName, code, text, expected) => {
    expect(classify(functionName, code, text)).toBe(expected);
  });

  it('an error that another lite server may answer differently is retryable', () => {
    const retryable = documented
      .filter(([fn, code, text]) => answeredError(fn, code, text).retryable)
      .map((row) => row[3]);
    expect([...new Set(retryable)].toSorted()).toEqual(
      ['lagging', 'overloaded', 'pruned', 'server_fault', 'timeout', 'unsupported'].toSorted(),
    );
  });

  it('an error has code, text and function, and a text without end is cut', () => {
    const error = answeredError('getBlock', 651, 'not in db');
    expect(error.data).toEqual({ serverCode: 651, text: 'not in db', function: 'getBlock' });
    expect(error.message).toBe('getBlock: the lite server answered 651: not in db');
    expect(answeredError('getBlock', 0, 'x'.repeat(100_000)).message.length).toBeLessThan(3_000);
  });
});

const absent = skipLoudly(recordedExchanges.length === 0, {
  what: 'classes of recorded errors',
  why: 'no recorded queries',
});

describe.skipIf(absent)('every recorded error', () => {
  const errors = recordedExchanges.flatMap(({ name, answer }) => {
    const failed = errorAnswer(answer);
    return failed === undefined ? [] : [{ ...failed, functionName: name }];
  });

  it('every recorded error has a class, and the class of its text', () => {
    const told = errors.map(({ functionName, code, text }) => ({ text, found: classify(functionName, code, text) }));
    const wrong = told.filter(({ text, found }) => {
      const [, expected] = recorded.find(([pattern]) => pattern.test(text)) ?? [];
      return expected === undefined ? found === 'server_fault' : found !== expected;
    });
    expect(wrong).toEqual([]);
  });
});
