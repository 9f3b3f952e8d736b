import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

import { redact } from './redaction.ts';

export type LoggerOptions = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Fields of every line, for example the role or the network. */
  readonly base?: Readonly<Record<string, string>>;
};

/**
 * Creates a logger of JSON lines, one object a line. Fields are `level` as a word, `time` in RFC 3339, `msg`, and the given ones. Text that looks
 * like a key or a password is removed from every line, in any position.
 *
 * @param destination default standard output
 */
export function createLogger(options: LoggerOptions, destination?: DestinationStream): Logger {
  const family = new Set<WeakRef<Logger>>();
  const settings = {
    level: options.level,
    base: options.base ?? {},
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: redact },
    onChild: (child: Logger) => void family.add(new WeakRef(child)),
  };
  const logger = pino(settings, destination ?? standardOutput());
  families.set(logger, family);
  return logger;
}

/** Lines leave together after this time, and at the end of the process: a call of the system costs more than a line. */
const WRITE_DELAY_MS = 20;

function standardOutput(): DestinationStream {
  let lines = '';
  const write = (): void => {
    output.write(lines);
    lines = '';
  };
  // Precedes the listener of the output, which ends it.
  process.on('exit', write);
  const output = pino.destination(1);
  return {
    write(line) {
      if (lines === '') setTimeout(write, WRITE_DELAY_MS);
      lines += line;
    },
  };
}

/** Child loggers of a logger. Each has a level of its own. */
const families = new WeakMap<Logger, Set<WeakRef<Logger>>>();

/** Sets the level of a logger of `createLogger` and of all its child loggers. */
export function setLogLevel(logger: Logger, level: LoggerOptions['level']): void {
  logger.level = level;
  const family = families.get(logger) ?? new Set();
  for (const reference of family) {
    const child = reference.deref();
    if (child === undefined) family.delete(reference);
    else child.level = level;
  }
}
