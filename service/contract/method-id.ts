import { methodIdOf } from '../tvm/method-id.ts';
import { invalid } from './errors.ts';
import type { RequiredParameter } from './parameter.ts';

/** Method id, a number or a name that gives it; signed 32 bits (service/v2/README.md#get-methods). */
export function methodId(missing: string): RequiredParameter<number> {
  return {
    name: 'method',
    missing,
    emptyIsAbsent: true,
    parse: (raw) => {
      const number = typeof raw === 'string' ? readNumber(raw) : raw;
      if (number === undefined) return methodIdOf(String(raw));
      if (typeof number !== 'number' || number !== (number | 0)) throw invalid('failed to parse method', 'method');
      return number;
    },
    check: () => undefined,
    input: { name: 'MethodInput', schema: { type: ['string', 'integer'], minLength: 1 } },
  };
}

/** Undefined when the text is no number but a name. */
function readNumber(text: string): number | undefined {
  const parts = /^(-?)(\d+|0[xX][0-9a-fA-F]+)$/.exec(text);
  return parts === null ? undefined : Number(parts[2]) * (parts[1] === '-' ? -1 : 1);
}
