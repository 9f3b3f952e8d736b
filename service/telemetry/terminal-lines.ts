import type { DestinationStream } from 'pino';

type Line = {
  readonly level?: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string };
  /** Text of the error that a request was answered with. */
  readonly reason?: string;
  readonly [field: string]: unknown;
};

/** Fields of every line, which a person at the terminal does not need. */
const COMMON_FIELDS = ['level', 'time', 'role', 'msg', 'err', 'reason'];

/** Carriage return and "erase to the end of the line": the status line may stand there. */
const CLEAR_LINE = '\r\u001B[K';

/** Most characters of a line; longer lines fill the terminal. */
const CHARACTERS_MAX = 600;

/**
 * Creates a destination for `createLogger` that writes each JSON line as one line for a person: `warn: text (field value)`.
 * @param output standard error of a terminal
 */
export function terminalLines(output: { write(text: string): unknown }): DestinationStream {
  return { write: (json) => void output.write(`${CLEAR_LINE}${personalLine(json)}\n`) };
}

function personalLine(json: string): string {
  let line: Line;
  try {
    line = JSON.parse(json) as Line;
  } catch {
    return json.trim();
  }
  const fields = Object.entries(line)
    .filter(([name, value]) => !COMMON_FIELDS.includes(name) && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${String(value)}`);
  const text = [line.msg, line.err?.message, line.reason]
    .filter((part) => part !== undefined && part !== '')
    .join(': ');
  const whole = `${line.level ?? 'info'}: ${text}${fields.length === 0 ? '' : ` (${fields.join(', ')})`}`;
  // A control character could move the cursor.
  const plain = whole.replaceAll(/[\p{Cc}\s]+/gu, ' ');
  return plain.length > CHARACTERS_MAX ? `${plain.slice(0, CHARACTERS_MAX)}...` : plain;
}
