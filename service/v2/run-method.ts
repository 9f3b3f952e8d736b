import { stepInSlices } from '../live/accounts/paced-cells.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import type { LiveGetMethods, LiveMethodRun } from '../live/contracts/get-methods.ts';
import { address } from './address-parameter.ts';
import { methodId } from '../contract/method-id.ts';
import { optionalSeqno } from './integer-parameter.ts';
import { defineOperation, mapAnswerLater, type Operation } from '../contract/operation.ts';
import { withDefault } from '../contract/parameter.ts';
import { int32, uint63 } from './scalars.ts';
import { constant, named, object, type Infer } from '../contract/shape.ts';
import { memoizePacedView } from '../contract/memoized-view.ts';
import { legacyStack, typedStack } from './stack-input.ts';
import { viewLegacyStack, viewTypedStack } from './stack-output.ts';
import { legacyStackShape, typedStackShape } from './stack-shapes.ts';
import { blockIdExt, transactionId, viewBlockId, viewTransactionId } from './views.ts';

const legacyResult = named(
  'RunResult',
  object({
    '@type': constant('smc.runResult'),
    gas_used: uint63,
    stack: legacyStackShape,
    exit_code: int32,
    block_id: blockIdExt,
    last_transaction_id: transactionId,
  }),
);

const typedResult = named(
  'RunResultStd',
  object({
    '@type': constant('smc.runResult'),
    gas_used: uint63,
    stack: typedStackShape,
    exit_code: int32,
  }),
);

/** Rejects as `viewLegacyStack` throws. */
export async function viewLegacyRun(run: LiveMethodRun): Promise<Infer<typeof legacyResult>> {
  return {
    '@type': 'smc.runResult',
    gas_used: Number(run.gasUsed),
    stack: await stepInSlices(viewLegacyStack(run.stack), createTimeSlice(undefined)),
    exit_code: run.exitCode,
    block_id: viewBlockId(run.masterchainBlock),
    last_transaction_id: viewTransactionId(run.lastTransaction),
  };
}

/** Rejects as `viewTypedStack` throws. */
export async function viewTypedRun(run: LiveMethodRun): Promise<Infer<typeof typedResult>> {
  return {
    '@type': 'smc.runResult',
    gas_used: Number(run.gasUsed),
    stack: await stepInSlices(viewTypedStack(run.stack), createTimeSlice(undefined)),
    exit_code: run.exitCode,
  };
}

const method = methodId('empty method');

/** Operations that run a get-method: one run, two forms of values (service/v2/README.md#get-methods). */
export function runMethodOperations(getMethods: LiveGetMethods): readonly Operation[] {
  const viewLegacy = memoizePacedView(viewLegacyRun);
  const viewTyped = memoizePacedView(viewTypedRun);
  return [
    defineOperation({
      name: 'runGetMethod',
      methods: ['POST'],
      tag: 'run method',
      failures: [533, 542],
      summary: 'Runs a get-method on the proved state of a contract; values in the legacy form.',
      parameters: { account: address, methodId: method, stack: withDefault(legacyStack, []), seqno: optionalSeqno },
      result: legacyResult,
      handle: async ({ seqno, ...call }, context) =>
        mapAnswerLater(await getMethods.runMethod(call, seqno, context), viewLegacy),
    }),
    defineOperation({
      name: 'runGetMethodStd',
      methods: ['POST'],
      tag: 'run method',
      failures: [533, 542],
      summary: 'Runs a get-method on the proved state of a contract; typed values.',
      parameters: { account: address, methodId: method, stack: withDefault(typedStack, []), seqno: optionalSeqno },
      result: typedResult,
      handle: async ({ seqno, ...call }, context) =>
        mapAnswerLater(await getMethods.runMethod(call, seqno, context), viewTyped),
    }),
  ];
}
