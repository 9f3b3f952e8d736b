import { bodyBag, optionalStateBag } from '../contract/boc-parameter.ts';
import type { LiveFees, SourceFees } from '../live/contracts/fees.ts';
import { address } from './address-parameter.ts';
import { optionalFlag } from './flag-parameter.ts';
import { defineOperation, mapAnswer, type Operation } from '../contract/operation.ts';
import { withDefault } from '../contract/parameter.ts';
import { uint63 } from './scalars.ts';
import { constant, list, named, object, type Infer } from '../contract/shape.ts';

const fees = named(
  'Fees',
  object({
    '@type': constant('fees'),
    in_fwd_fee: uint63,
    storage_fee: uint63,
    gas_fee: uint63,
    fwd_fee: uint63,
  }),
);

export const queryFees = named(
  'QueryFees',
  object({ '@type': constant('query.fees'), source_fees: fees, destination_fees: list(fees) }),
);

/** Fees are JSON integers; the list of destination fees is always empty (service/v2/README.md#fees). */
export function viewFees(source: SourceFees): Infer<typeof queryFees> {
  return {
    '@type': 'query.fees',
    source_fees: {
      '@type': 'fees',
      in_fwd_fee: Number(source.inForwardFee),
      storage_fee: Number(source.storageFee),
      gas_fee: Number(source.gasFee),
      fwd_fee: Number(source.forwardFee),
    },
    destination_fees: [],
  };
}

/** Body of the message, not the message (service/v2/README.md#fees). */
export const body = bodyBag('body', 'empty body');

export const ignoreSignature = {
  ...withDefault(optionalFlag('ignore_chksig'), true),
  input: { name: 'FlagInput', schema: { type: 'boolean' } },
};

const parameters = {
  account: address,
  body,
  initCode: optionalStateBag('init_code'),
  initData: optionalStateBag('init_data'),
  ignoreSignature,
};

export function feeOperations(live: LiveFees): readonly Operation[] {
  return [
    defineOperation({
      name: 'estimateFee',
      methods: ['POST'],
      tag: 'send',
      summary: 'Fees of an external message with this body.',
      parameters,
      result: queryFees,
      handle: async ({ initCode, initData, ...call }, context) => {
        const init = { initCode: initCode || null, initData: initData || null };
        return mapAnswer(await live.estimateFees({ ...call, ...init }, context), viewFees);
      },
    }),
  ];
}
