import { describe, expect, it } from 'vitest';

import { parseCommandLine } from '#service/config/command-line.ts';

const read = (...args: readonly string[]) =>
  parseCommandLine(
    { args: [...args], options: { data: { type: 'string' } }, allowPositionals: true },
    (message) => new RangeError(message),
  );

describe('A command line', () => {
  it('gives values and the rest', () => {
    const { values, positionals } = read('one', '--data', 'folder');
    expect([values.data, positionals]).toEqual(['folder', ['one']]);
  });

  it.each([
    ['--bogus', "Unknown option '--bogus'; --help lists all options"],
    ['-1:00', "Unknown option '-1'; --help lists all options"],
    ['--data', "Option '--data <value>' argument missing; --help lists all options"],
  ])('with %s is refused in a sentence that names the help', (text, message) => {
    expect(() => read(text)).toThrow(new RangeError(message));
  });
});
