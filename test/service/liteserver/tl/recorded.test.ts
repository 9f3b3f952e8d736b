import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { functionOf, liteServerFunctions } from '#service/liteserver/functions.ts';
import { decodeEnvelope, encodeEnvelope, errorAnswer } from '#service/liteserver/tl/envelope.ts';
import { TlError } from '#service/liteserver/tl/errors.ts';
import { liteServerError } from '#service/liteserver/tl/lite-api.ts';
import { decodeTl, encodeTl } from '#service/liteserver/tl/record.ts';

type Exchange = { query_name: string; note: string; request_hex: string; response_type: string; response_hex: string };

const files = fixtureFiles(/(^|\/)queries\.jsonl$/);

describe.skipIf(files.length === 0)('recorded exchanges of a real node', () => {
  const exchanges = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Exchange),
  );

  it('are some', () => {
    expect(exchanges.length).toBeGreaterThan(0);
  });

  it('decode and encode to the same bytes, requests and answers', () => {
    const different = exchanges.filter((exchange) => {
      const sent = Buffer.from(exchange.request_hex, 'hex');
      const answer = Buffer.from(exchange.response_hex, 'hex');
      const { request, wait } = decodeEnvelope(encodeEnvelope(sent));
      const fn = functionOf(request);
      if (fn === undefined || `liteServer.${fn.name}` !== exchange.query_name) return true;
      const failed = errorAnswer(answer);
      const encoded =
        failed === undefined
          ? fn.encodeAnswer(fn.decode(answer))
          : encodeTl(liteServerError.boxed, { code: failed.code, message: failed.text });
      const requestAgain = encodeEnvelope(fn.encode(fn.decodeArgs(request)), wait);
      return !(encoded.equals(answer) && requestAgain.equals(encodeEnvelope(sent)));
    });
    expect(different).toEqual([]);
  });

  it('cut or lengthened anywhere give a TL error, nothing else', () => {
    for (const { request_hex, response_type, response_hex } of exchanges) {
      const fn = functionOf(decodeEnvelope(encodeEnvelope(Buffer.from(request_hex, 'hex'))).request);
      if (fn === undefined || response_type === 'liteServer.error') continue;
      const answer = Buffer.from(response_hex, 'hex');
      for (let step = 1; step <= 16; step++) {
        const length = Math.floor((answer.length * step) / 17);
        expect(() => fn.decode(answer.subarray(0, length))).toThrow(TlError);
      }
      expect(() => fn.decode(Buffer.concat([answer, Buffer.alloc(4)]))).toThrow(TlError);
    }
  });

  it('answer a function that another function would not accept', () => {
    const answers = new Set(exchanges.map((exchange) => exchange.response_type));
    const version = liteServerFunctions.find((fn) => fn.name === 'getVersion');
    for (const { response_type, response_hex } of exchanges) {
      if (response_type === 'liteServer.version') continue;
      expect(() => version?.decode(Buffer.from(response_hex, 'hex'))).toThrow(TlError);
    }
    expect(answers.size).toBeGreaterThan(1);
  });
});

describe('an error', () => {
  it('with a text that is not UTF-8 is still read', () => {
    const broken = Buffer.from('48e1a9bbffffffff02fffe00', 'hex');
    expect(errorAnswer(broken)).toEqual({ code: -1, text: '\ufffd\ufffd' });
    expect(decodeTl(liteServerError.boxed, broken).code).toBe(-1);
  });
});
