import { bytes } from '#service/contract/boc-parameter.ts';
import type { DefaultedParameter, OptionalParameter } from '#service/contract/parameter.ts';
import { bool, hash, uint32 } from '#service/v3/request/parameters.ts';
import { overrides } from './overrides.ts';

// Fields of a body. Names and texts are those of the contract (service/emulate/README.md#request).

/** A JSON boolean, or a text that stands for a boolean as in v3. */
export function jsonFlag(name: string): DefaultedParameter<boolean> {
  const ofText = bool(name);
  return { ...ofText, parse: (raw, kind) => (typeof raw === 'boolean' ? raw : ofText.parse(raw, kind)) };
}

const anySeqno = uint32('mc_block_seqno');

/** Seqno of a masterchain block, 1..2^32-1. Seqno 0 names the zerostate, which is no block. */
const masterchainSeqno: OptionalParameter<number> = {
  ...anySeqno,
  check: (value) => (value > 0 ? undefined : 'mc_block_seqno should be positive'),
  input: { ...anySeqno.input, schema: { ...anySeqno.input.schema, minimum: 1 } },
};

/** Fields that both operations have. */
export const traceParameters = {
  withActions: jsonFlag('with_actions'),
  includeCodeData: jsonFlag('include_code_data'),
  includeAddressBook: jsonFlag('include_address_book'),
  includeMetadata: jsonFlag('include_metadata'),
  mcSeqno: masterchainSeqno,
  randSeed: hash('rand_seed'),
  overrides: overrides('overrides'),
};

/** The message of a trace, in every form that `sendBoc` takes. */
export const messageBoc = bytes('boc', 'boc is required');

export const ignoreSignatures = jsonFlag('ignore_chksig');
