import { bodyBag, optionalStateBag } from '#service/contract/boc-parameter.ts';
import { mapAnswer } from '#service/contract/operation.ts';
import { list, named, object, type Infer } from '#service/contract/shape.ts';
import type { LiveFees, SourceFees } from '#service/live/contracts/fees.ts';
import { defineLiveOperation } from '../request/live-operation.ts';
import type { V3Operation } from '../request/operation.ts';
import { account, bool } from '../request/parameters.ts';
import { required } from '../request/required-parameters.ts';
import { integer } from '../request/scalars.ts';

const fees = named(
  'V2EstimatedFee',
  object({ in_fwd_fee: integer, storage_fee: integer, gas_fee: integer, fwd_fee: integer }),
);

const result = named('V2EstimateFeeResult', object({ source_fees: fees, destination_fees: list(fees) }));

/** Fees are JSON integers; fees of the destinations are unknown here, and the list is empty. */
export function viewFees(source: SourceFees): Infer<typeof result> {
  const source_fees = {
    in_fwd_fee: Number(source.inForwardFee),
    storage_fee: Number(source.storageFee),
    gas_fee: Number(source.gasFee),
    fwd_fee: Number(source.forwardFee),
  };
  return { source_fees, destination_fees: [] };
}

/** Same default as in v2. */
const ignoreSignatureFlag = bool('ignore_chksig', true);

const parameters = {
  account: required(account('address'), 'address is required'),
  body: bodyBag('body', 'body is required'),
  initCode: optionalStateBag('init_code'),
  initData: optionalStateBag('init_data'),
  ignoreSignature: {
    ...ignoreSignatureFlag,
    parse: (raw, kind) => (typeof raw === 'boolean' ? raw : ignoreSignatureFlag.parse(raw, kind)),
  } satisfies typeof ignoreSignatureFlag,
};

export function feeOperations(live: LiveFees): readonly V3Operation[] {
  return [
    defineLiveOperation({
      name: 'estimateFee',
      methods: ['POST'],
      summary: 'Fees of an external message with this body.',
      parameters,
      result,
      handle: async ({ initCode, initData, ...call }, context) =>
        mapAnswer(
          await live.estimateFees({ ...call, initCode: initCode || null, initData: initData || null }, context),
          viewFees,
        ),
    }),
  ];
}
