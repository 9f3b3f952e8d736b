import { describe, expect, it } from 'vitest';
import { functionOf } from '#service/liteserver/function-table.ts';
import { getVersion } from '#service/liteserver/functions.ts';
import { decodeEnvelope, encodeEnvelope, errorAnswer } from '#service/liteserver/tl/envelope.ts';
import { TlError } from '#service/liteserver/tl/errors.ts';
import { liteServerError } from '#service/liteserver/tl/lite-api.ts';
import { decodeTl, encodeTl } from '#service/liteserver/tl/record.ts';
import { recordedExchanges } from '../recorded-node.ts';
import { skipLoudly } from '#test/support/skips.ts';

const absent = skipLoudly(recordedExchanges.length === 0, {
  what: 'TL of recorded answers',
  why: 'no recorded queries',
});

describe.skipIf(absent)('recorded exchanges of a real node', () => {
  it('recorded exchanges decode and encode to the same bytes, requests with their wait and answers', () => {
    const different = recordedExchanges.filter(({ name, sent, request, answer }) => {
      const fn = functionOf(request);
      if (fn?.name !== name) return true;
      const { wait } = decodeEnvelope(encodeEnvelope(sent));
      const failed = errorAnswer(answer);
      const answerAgain =
        failed === undefined
          ? fn.encodeAnswer(fn.decode(answer))
          : encodeTl(liteServerError.boxed, { code: failed.code, message: failed.text });
      const requestAgain = encodeEnvelope(fn.encode(fn.decodeArgs(request)), wait);
      return !(answerAgain.equals(answer) && requestAgain.equals(encodeEnvelope(sent)));
    });
    expect(different).toEqual([]);
  });

  it('recorded exchanges cut or lengthened anywhere give a TL error, nothing else', () => {
    for (const { request, answer } of recordedExchanges.filter((each) => errorAnswer(each.answer) === undefined)) {
      const fn = functionOf(request);
      for (let part = 0; part < 17; part++) {
        const cut = answer.subarray(0, Math.floor((answer.length * part) / 17));
        expect(() => fn?.decode(cut)).toThrow(TlError);
      }
      expect(() => fn?.decode(Buffer.concat([answer, Buffer.alloc(4)]))).toThrow(TlError);
    }
  });

  it('recorded exchanges are not decoded as the answer of another function', () => {
    for (const { answer } of recordedExchanges.filter(({ name }) => name !== 'getVersion')) {
      expect(() => getVersion.decode(answer)).toThrow(TlError);
    }
  });
});

describe('an error', () => {
  it('an error with a text that is not UTF-8 is still read', () => {
    const broken = Buffer.from('48e1a9bbffffffff02fffe00', 'hex');
    expect(errorAnswer(broken)).toEqual({ code: -1, text: '\ufffd\ufffd' });
    expect(decodeTl(liteServerError.boxed, broken).code).toBe(-1);
  });
});
