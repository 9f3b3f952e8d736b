import { memoizePacedView } from '#service/contract/memoized-view.ts';
import { methodId } from '#service/contract/method-id.ts';
import { mapAnswerLater } from '#service/contract/operation.ts';
import { withDefault, type OptionalParameter } from '#service/contract/parameter.ts';
import { named, object, type Infer } from '#service/contract/shape.ts';
import { stepInSlices } from '#service/live/accounts/paced-cells.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import type { LiveGetMethods, LiveMethodRun } from '#service/live/contracts/get-methods.ts';
import { defineLiveOperation } from '../request/live-operation.ts';
import type { V3Operation } from '../request/operation.ts';
import { account, int32 } from '../request/parameters.ts';
import { required } from '../request/required-parameters.ts';
import { integer } from '../request/scalars.ts';
import { stackArguments, stackShape, viewStack } from '../request/stack.ts';

const result = named('V2RunGetMethodResult', object({ gas_used: integer, exit_code: integer, stack: stackShape }));

async function viewRun({ gasUsed, exitCode, stack }: LiveMethodRun): Promise<Infer<typeof result>> {
  const view = await stepInSlices(viewStack(stack), createTimeSlice(undefined));
  return { gas_used: Number(gasUsed), exit_code: exitCode, stack: view };
}

/** Masterchain block of the run, a number or its text; without it the served head. */
const masterchainSeqno: OptionalParameter<number> = {
  ...int32('seqno'),
  check: (value) => (value > 0 ? undefined : 'seqno should be positive'),
};

/** Runs get-methods at the served head (service/v3/README.md#operations-at-the-head). */
export function runMethodOperations(getMethods: LiveGetMethods): readonly V3Operation[] {
  const view = memoizePacedView(viewRun);
  return [
    defineLiveOperation({
      name: 'runGetMethod',
      methods: ['POST'],
      summary: 'Runs a get-method on the proved state of a contract.',
      parameters: {
        account: required(account('address'), 'address is required'),
        methodId: methodId('method is required'),
        stack: withDefault(stackArguments, []),
        seqno: masterchainSeqno,
      },
      // A stack that is nested too deep to be rendered.
      failures: [533],
      result,
      handle: async ({ seqno, ...call }, context) =>
        mapAnswerLater(await getMethods.runMethod(call, seqno, context), view),
    }),
  ];
}
