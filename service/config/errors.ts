import { TonplaneError } from '../error.ts';

/** One thing wrong with a configuration. */
export type ConfigProblem = {
  /** Where: `spec.plans[0].burst`, `liteservers[2].id.key`; empty for the document as a whole. */
  readonly path: string;
  /** What was expected, and what was found where that can be shown. Never holds a value of a Secret. */
  readonly expected: string;
};

/** `invalid`: the document is readable but wrong; `unreadable`: not YAML or JSON, too big, or without a TonApi. */
export type ConfigErrorCode = 'config_invalid' | 'config_unreadable';

/** A configuration was refused. `data.problems` has every problem found, in the order of the document's rules; the message lists them all. */
export class ConfigError extends TonplaneError<ConfigErrorCode, { readonly problems: readonly ConfigProblem[] }> {
  constructor(code: ConfigErrorCode, problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ path, expected }) => (path === '' ? expected : `${path}: ${expected}`));
    super({ code, message: lines.join('\n'), data: { problems }, retryable: false });
  }
}

/** Characters of a wrong value that a message shows. */
const shownLengthMax = 60;

/** A wrong value as a message may show it: JSON, shortened. */
export function shown(value: unknown): string {
  const text = jsonOf(value);
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}...` : text;
}

/** YAML aliases can make a value that holds itself, which JSON cannot tell. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return 'a value that holds itself';
  }
}
