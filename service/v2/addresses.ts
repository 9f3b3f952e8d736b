import { fitsFriendly, formatFriendlyAddress, formatRawAddress, type ParsedAddress } from '../decode/address.ts';
import { spelledAddress } from './address-parameter.ts';
import { invalid } from '../contract/errors.ts';
import { defineOperation, localAnswer, type Operation } from '../contract/operation.ts';
import { flag, friendlyAddress, rawAddressLower, rawAddressUpper } from './scalars.ts';
import { constant, named, object, oneOfStrings, scalar, type Infer, type Shape } from '../contract/shape.ts';

const detectedAddressVariant = named(
  'DetectedAddressVariant',
  object({
    '@type': constant('ext.utils.detectedAddressVariant'),
    b64: scalar<string>({ type: 'string', pattern: '^[A-Za-z0-9+/]{48}$' }),
    b64url: friendlyAddress,
  }),
);

const detectedAddress = named(
  'DetectedAddress',
  object({
    '@type': constant('ext.utils.detectedAddress'),
    raw_form: rawAddressLower,
    bounceable: detectedAddressVariant,
    non_bounceable: detectedAddressVariant,
    given_type: oneOfStrings(['raw_form', 'friendly_bounceable', 'friendly_non_bounceable']),
    test_only: flag,
  }),
);

/** Every spelling of an address; both variants have its testnet flag (service/v2/README.md#utils). */
export function viewDetectedAddress(address: ParsedAddress): Infer<typeof detectedAddress> {
  return {
    '@type': 'ext.utils.detectedAddress',
    raw_form: formatRawAddress(address),
    bounceable: viewVariant(address, true),
    non_bounceable: viewVariant(address, false),
    given_type: viewGivenType(address),
    test_only: address.testOnly,
  };
}

function viewVariant(address: ParsedAddress, bounceable: boolean): Infer<typeof detectedAddressVariant> {
  return {
    '@type': 'ext.utils.detectedAddressVariant',
    b64: pack(address, { bounceable, urlSafe: false }),
    b64url: pack(address, { bounceable }),
  };
}

function viewGivenType({ form, bounceable }: ParsedAddress): Infer<typeof detectedAddress>['given_type'] {
  if (form === 'raw') return 'raw_form';
  return bounceable ? 'friendly_bounceable' : 'friendly_non_bounceable';
}

/**
 * The friendly form with the flags of the given one; a raw address becomes bounceable.
 * @throws ContractError a friendly address has room for 8 bits of workchain
 */
function pack(address: ParsedAddress, style: { bounceable?: boolean; urlSafe?: boolean } = {}): string {
  if (!fitsFriendly(address)) throw invalid('failed to parse address', 'address');
  return formatFriendlyAddress(address, { bounceable: address.bounceable, testOnly: address.testOnly, ...style });
}

/** Conversions of addresses, without a lite server (service/v2/README.md#utils). */
export function addressOperations(): readonly Operation[] {
  return [
    converting(
      'detectAddress',
      'Every form of an address, and which one was given.',
      detectedAddress,
      viewDetectedAddress,
    ),
    converting('packAddress', 'The friendly form of an address.', friendlyAddress, (address) => pack(address)),
    converting('unpackAddress', 'The raw form of an address.', rawAddressUpper, (address) =>
      formatRawAddress(address, 'upper'),
    ),
  ];
}

function converting<R>(
  name: string,
  summary: string,
  result: Shape<R>,
  view: (address: ParsedAddress) => R,
): Operation {
  return defineOperation({
    name,
    methods: ['GET', 'POST'],
    tag: 'utils',
    summary,
    parameters: { address: spelledAddress },
    result,
    handle: async (values) => localAnswer(view(values.address)),
  });
}
