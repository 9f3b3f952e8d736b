import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Reads a command line. @param refuse makes the error for one that is not understood; its message is a sentence */
export function parseCommandLine<T extends ParseArgsConfig>(
  config: T,
  refuse: (message: string) => Error,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    // Node goes on with an advice about texts that begin with a minus.
    const [sentence = ''] = cause.message.split('. To specify');
    throw refuse(`${sentence}; --help lists all options`);
  }
}
