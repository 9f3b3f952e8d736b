import { ContractError } from '../contract/errors.ts';
import type { PacedText } from '../contract/json-stream.ts';
import type { TonplaneError } from '../error.ts';
import { createTimeSlice, type TimeSlice } from '../runtime/time-slice.ts';
import { createUtf8Buffer } from '../runtime/utf8-buffer.ts';
import { malformed, readRpcCall, type RpcCall, type RpcId } from '../v2/json-rpc.ts';
import type { V2 } from '../v2/v2.ts';
import type { BodyReader } from './body.ts';
import type { Call, Calls } from './calls.ts';
import { bareExtra, type RpcMark } from './envelope.ts';
import { HttpError } from './errors.ts';
import { noStore } from './headers.ts';
import { parseJson } from './json-body.ts';
import type { HttpMetrics } from './metrics.ts';
import { errorAnswer, type Answer } from './reply.ts';

export type RpcOptions = { readonly batchMax: number };

export type RpcDependencies = {
  readonly calls: Calls;
  readonly v2: V2;
  readonly bodies: BodyReader;
  readonly metrics: HttpMetrics;
};

/** Label of a request that carries several operations. */
const batchLabel = 'batch';

/** Name under which a request without an operation is charged. */
const noOperation = 'jsonRPC';

/** Answers `POST /api/v2/jsonRPC`, a call or a batch of calls (service/v2/README.md#json-rpc). Runs operations in process, never itself. */
export async function answerRpc(options: RpcOptions, dependencies: RpcDependencies, call: Call): Promise<Answer> {
  await call.admission.enter();
  const body = await readRpcBody(call, dependencies.bodies, options.batchMax);
  if ('error' in body) {
    await call.admission.charge(noOperation);
    return errorAnswer(body.error, bareExtra, { mark: {} });
  }
  if (Array.isArray(body.value)) return answerBatch(dependencies, call, body.value);
  const rpc = readRpcCall(body.value, dependencies.v2.find);
  if ('operation' in rpc) call.exchange.operation = rpc.operation.name;
  return (await startCall(dependencies.calls, call, rpc)).answer;
}

/** The body's JSON, or why there is none. An empty body is `{}`, as everywhere. */
async function readRpcBody(
  call: Call,
  bodies: BodyReader,
  batchMax: number,
): Promise<{ value: unknown } | { error: TonplaneError }> {
  try {
    const bytes = await bodies.read(call.request.raw, call.deadline.signal);
    const value = bytes.length === 0 ? {} : parseJson(bytes);
    const problem = Array.isArray(value) ? batchProblem(value, batchMax) : undefined;
    return problem === undefined ? { value } : { error: malformed(problem) };
  } catch (error) {
    if (error instanceof HttpError) return { error };
    throw error;
  }
}

/** Charges a call, good or not, and starts it. The outer promise resolves on admission or refusal, the inner promise with the answer. */
async function startCall(calls: Calls, call: Call, rpc: RpcCall): Promise<{ readonly answer: Promise<Answer> }> {
  const mark = markOf(rpc.id);
  try {
    await call.admission.charge('operation' in rpc ? rpc.operation.name : noOperation);
  } catch (error) {
    return { answer: Promise.resolve(errorAnswer(error, call.exchange.extra(), { mark })) };
  }
  if ('error' in rpc) return { answer: Promise.resolve(errorAnswer(rpc.error, bareExtra, { mark })) };
  return { answer: calls.run(call, rpc.operation, rpc.source, mark) };
}

/** Most letters of all answers of a batch: as many as one answer of v2 may have. An answer is written before its size is known. */
const BATCH_MEBIBYTES = 32;

/**
 * Charges the calls one after the other and runs them in parallel. Returns the answers in the order of the calls, with status 200. Other
 * requests run between the starts of the calls, because a call reads its parameters at its start.
 */
async function answerBatch(
  { calls, v2, metrics }: RpcDependencies,
  call: Call,
  values: readonly unknown[],
): Promise<Answer> {
  call.exchange.operation = batchLabel;
  const timeSlice = createTimeSlice(call.deadline.signal);
  const withinBatch = createBatchSize(call);
  const answers: Promise<Answer>[] = [];
  for (const value of values) {
    await timeSlice.pause();
    const rpc = readRpcCall(value, v2.find);
    const started = await startCall(calls, call, rpc);
    const answer = started.answer.then((whole) => withinBatch(whole, markOf(rpc.id)));
    answers.push(answer);
    const operation = 'operation' in rpc ? rpc.operation.name : 'unknown';
    void answer.then(({ status }) => metrics.batchCall(operation, status));
  }
  const answered = await Promise.all(answers);
  const hasFailure = answered.some(({ status }) => status >= 400);
  return {
    status: 200,
    body: await joinBodies(answered, timeSlice),
    ...(hasFailure && { headers: { 'cache-control': noStore } }),
  };
}

/** Returns each answer as it is, or its refusal once the batch has no room for it. */
function createBatchSize({ exchange }: Call): (answer: Answer, mark: RpcMark) => Answer {
  let left = BATCH_MEBIBYTES * 1024 * 1024;
  return (answer, mark) => {
    const { body } = answer;
    // The bytes of a text are not counted: that alone would take a millisecond for each answer.
    const size = typeof body === 'string' ? body.length : body.reduce((sum, { length }) => sum + length, 0);
    if (size <= left) {
      left -= size;
      return answer;
    }
    const reason = `the answers of the batch are larger than ${BATCH_MEBIBYTES} MiB: make fewer calls at once`;
    return errorAnswer(new ContractError('answer_too_large', reason), exchange.extra(), { mark });
  };
}

/** The list of the answers, in pieces. A text of all would stop the event loop for seconds. */
async function joinBodies(answers: readonly Answer[], timeSlice: TimeSlice): Promise<PacedText> {
  const { add, pieces } = createUtf8Buffer();
  let opening = '[';
  for (const { body } of answers) {
    await timeSlice.pause();
    add(opening);
    opening = ',';
    if (typeof body === 'string') add(body);
    else body.forEach(add);
  }
  add(']');
  return pieces();
}

function batchProblem(values: readonly unknown[], batchMax: number): string | undefined {
  if (values.length === 0) return 'empty batch';
  return values.length > batchMax ? `more than ${batchMax} calls in a batch` : undefined;
}

function markOf(id: RpcId): RpcMark {
  if (id === undefined) return {};
  return { id: typeof id === 'bigint' ? id.toString() : JSON.stringify(id) };
}
