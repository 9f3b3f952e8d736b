import { describe, expect, it } from 'vitest';

import { createLogger } from '#service/telemetry/logger.ts';
import { terminalLines } from '#service/telemetry/terminal-lines.ts';

/** Begins each line, as a status line may stand there. */
const clearLine = '\r\u001B[K';

function linesOf(work: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  const output = { write: (text: string) => lines.push(text.replace(clearLine, '')) };
  work(createLogger({ level: 'warn', base: { role: 'dev' } }, terminalLines(output)));
  return lines;
}

describe('logs for a terminal', () => {
  it('a log entry is one line on a terminal: level, text, the reason, and plain fields', () => {
    const refused = new Error('External message was not accepted\nexitcode=33, steps=12');
    expect(linesOf((logger) => logger.warn({ err: refused, status: 500, operation: 'sendBoc' }, 'request'))).toEqual([
      'warn: request: External message was not accepted exitcode=33, steps=12 (status 500, operation sendBoc)\n',
    ]);
  });

  it('say why a request was refused', () => {
    const fields = { operation: 'sendBoc', status: 500, reason: 'External message was not accepted\nexitcode=33' };
    expect(linesOf((logger) => logger.warn(fields, 'request'))).toEqual([
      'warn: request: External message was not accepted exitcode=33 (operation sendBoc, status 500)\n',
    ]);
  });

  it('a line on a terminal has no control character and at most 600 characters', () => {
    const [line] = linesOf((logger) => logger.error(`\u001B[2J${'a'.repeat(1000)}`));
    expect([line?.includes('\u001B'), line?.length]).toEqual([false, 604]);
  });

  it('a line on a terminal has no key, like a line of JSON', () => {
    const key = `ton_${'a'.repeat(12)}_${'b'.repeat(43)}`;
    expect(linesOf((logger) => logger.warn({ 'x-api-key': key }, 'request')).join('')).not.toContain(key);
  });
});
