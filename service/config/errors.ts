import { TonplaneError } from '../error.ts';

/** Problem of a configuration. */
export type ConfigProblem = {
  /** Path of the field, e.g. `spec.plans[0].burst` or `liteservers[2].id.key`; empty for the whole document. */
  readonly path: string;
  /** Expected value, and the value found if it may be shown. Never contains a value of a Secret. */
  readonly expected: string;
};

/** `invalid`: the document is readable but wrong; `unreadable`: not YAML or JSON, too big, or without a TonApi. */
export type ConfigErrorCode = 'config_invalid' | 'config_unreadable';

/** Error for a refused configuration. `data.problems` has every problem in the order of the document's rules; the message lists them all. */
export class ConfigError extends TonplaneError<ConfigErrorCode, { readonly problems: readonly ConfigProblem[] }> {
  constructor(code: ConfigErrorCode, problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ path, expected }) => (path === '' ? expected : `${path}: ${expected}`));
    super({ code, message: lines.join('\n'), data: { problems }, retryable: false });
  }
}

/** Most characters of a wrong value in a message. */
const SHOWN_LENGTH_MAX = 60;

/** Renders a wrong value for a message: JSON, shortened. */
export function shown(value: unknown): string {
  const text = jsonOf(value);
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}...` : text;
}

/** Renders JSON. YAML aliases can make a cyclic value, which has no JSON. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return 'a value that holds itself';
  }
}
