import { bytes } from '#service/contract/boc-parameter.ts';
import { invalid } from '#service/contract/errors.ts';
import type { DefaultedParameter, OptionalParameter } from '#service/contract/parameter.ts';
import { bool, hash } from '#service/v3/request/parameters.ts';
import { overrides } from './overrides.ts';

// Fields of a body. Names and texts are those of the contract (service/emulate/README.md#request).

/** A JSON boolean, or a text that stands for a boolean as in v3. */
export function jsonFlag(name: string): DefaultedParameter<boolean> {
  const ofText = bool(name);
  return { ...ofText, parse: (raw, kind) => (typeof raw === 'boolean' ? raw : ofText.parse(raw, kind)) };
}

const UINT32_MAX = 2 ** 32 - 1;

/** An integer of 32 bits, as a number or as digits. */
export function uint32(name: string): OptionalParameter<number> {
  return {
    name,
    missing: undefined,
    emptyIsAbsent: true,
    parse(raw) {
      const value = typeof raw === 'string' && /^\d{1,10}$/.test(raw) ? Number(raw) : raw;
      const fits = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= UINT32_MAX;
      if (!fits) throw invalid(`${name} must be an unsigned integer of 32 bits`, name);
      return value;
    },
    check: () => undefined,
    input: { name: 'MasterchainSeqno', schema: { type: ['integer', 'null'], minimum: 0, maximum: UINT32_MAX } },
  };
}

/** Fields that both operations have. */
export const traceParameters = {
  withActions: jsonFlag('with_actions'),
  includeCodeData: jsonFlag('include_code_data'),
  includeAddressBook: jsonFlag('include_address_book'),
  includeMetadata: jsonFlag('include_metadata'),
  mcSeqno: uint32('mc_block_seqno'),
  randSeed: hash('rand_seed'),
  overrides: overrides('overrides'),
};

/** The message of a trace, in every form that `sendBoc` takes. */
export const messageBoc = bytes('boc', 'boc is required');

export const ignoreSignatures = jsonFlag('ignore_chksig');
