import { readFileSync } from 'node:fs';
import type { Respond } from './loopback.ts';
import { failing } from './loopback.ts';
import { decodeEnvelope, encodeEnvelope, errorAnswer } from '#service/liteserver/tl/envelope.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';

type Exchange = {
  readonly query_name: string;
  readonly note: string;
  readonly request_hex: string;
  readonly response_hex: string;
};

/** Recorded query and its answer; `request` is `sent` without a wait prefix. */
export type RecordedExchange = {
  readonly sent: Buffer;
  readonly name: string;
  readonly request: Buffer;
  readonly answer: Buffer;
};

/** Every lite-server exchange in the fixtures. */
export const recordedExchanges: readonly RecordedExchange[] = fixtureFiles(/(^|\/)queries\.jsonl$/)
  .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Exchange)
  .map(({ query_name, request_hex, response_hex }) => ({
    sent: Buffer.from(request_hex, 'hex'),
    name: query_name.replace('liteServer.', ''),
    request: decodeEnvelope(encodeEnvelope(Buffer.from(request_hex, 'hex'))).request,
    answer: Buffer.from(response_hex, 'hex'),
  }));

const answeredWell = ({ answer }: RecordedExchange): number => (errorAnswer(answer) === undefined ? 1 : 0);

/** Answers like the recorded node, without the error where it failed only once; any other request is unknown. */
export function respondRecorded(): Respond {
  const ordered = recordedExchanges.toSorted((a, b) => answeredWell(a) - answeredWell(b));
  const answers = new Map(ordered.map(({ request, answer }) => [request.toString('hex'), answer]));
  return (request) => answers.get(request.toString('hex')) ?? failing(621, 'unknown query');
}
