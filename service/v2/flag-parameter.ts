import { invalid } from '../contract/errors.ts';
import type { OptionalParameter } from '../contract/parameter.ts';

const yes: ReadonlySet<string> = new Set(['y', 'yes', 't', 'true', 'on', '1']);
const no: ReadonlySet<string> = new Set(['n', 'no', 'f', 'false', 'off', '0']);

/** A boolean in any spelling and case; an empty text is absent (service/v2/README.md#inputs). */
export function optionalFlag(name: string): OptionalParameter<boolean> {
  return {
    name,
    missing: undefined,
    emptyIsAbsent: true,
    parse: (raw) => {
      const value = readFlag(raw);
      if (value === undefined) throw invalid(`failed to parse ${name}`, name);
      return value;
    },
    check: () => undefined,
    input: {
      name: 'BoolInput',
      schema: {
        type: ['boolean', 'integer', 'string'],
        pattern:
          '^(?:[Yy](?:[Ee][Ss])?|[Tt](?:[Rr][Uu][Ee])?|[Oo][Nn]|1|[Nn][Oo]?|[Ff](?:[Aa][Ll][Ss][Ee])?|[Oo][Ff][Ff]|0|)$',
      },
    },
  };
}

function readFlag(raw: unknown): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  if (typeof raw === 'bigint') return raw !== 0n;
  if (typeof raw === 'number') return Number.isInteger(raw) ? raw !== 0 : undefined;
  if (typeof raw !== 'string') return undefined;
  const text = raw.toLowerCase();
  if (yes.has(text)) return true;
  return no.has(text) ? false : undefined;
}
