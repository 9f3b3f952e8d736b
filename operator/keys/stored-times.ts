import type { TonApiKey } from '../resource.ts';
import { formats, shown, type FormatName } from '../service-config.ts';

/**
 * Sentence about the times of the spec that the operator cannot read, with their effects. An older definition, or an older API server, may
 * have accepted them. Undefined: all are readable.
 */
export function unreadableTimes({ spec }: Pick<TonApiKey, 'spec'>): string | undefined {
  const problems = [
    problemOf('spec.expiresAt', spec.expiresAt, 'date-time', 'the key is out of force'),
    problemOf('spec.rotation.every', spec.rotation?.every, 'duration', 'only the trigger rotates the key'),
    problemOf(
      'spec.rotation.overlap',
      spec.rotation?.overlap,
      'duration',
      'an old key stays valid for the default time',
    ),
  ].filter((problem) => problem !== undefined);
  return problems.length === 0 ? undefined : problems.join('; ');
}

function problemOf(path: string, text: string | undefined, name: FormatName, effect: string): string | undefined {
  const { isReadable, words } = formats[name];
  if (text === undefined || isReadable(text)) return undefined;
  return `${path}: expected ${words}, got ${shown(text)}, so ${effect}`;
}
