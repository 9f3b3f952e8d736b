import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

import { redact } from './redaction.ts';

export type LoggerOptions = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Fields of every line, as the role or the network. */
  readonly base?: Readonly<Record<string, string>>;
};

/**
 * JSON logs, one object a line: `level` as a word, `time` in RFC 3339, `msg`, and the fields given. Whatever looks like a key or a password is
 * taken out of every line, wherever it stands.
 *
 * @param destination default standard output
 */
export function createLogger(options: LoggerOptions, destination?: DestinationStream): Logger {
  const settings = {
    level: options.level,
    base: options.base ?? {},
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: redact },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}
