import type { LiveAnswer } from '#service/contract/answer.ts';
import type { LiveConfiguration } from '#service/live/configuration/configuration.ts';
import { bytes32, emptyCellBoc } from './scripted-accounts.ts';

/** Fixed answers, each part to be replaced; remembers what was asked. */
export function scriptConfiguration(
  script: Partial<LiveConfiguration> = {},
): LiveConfiguration & { readonly asked: unknown[][] } {
  const asked: unknown[][] = [];
  const note = <T>(name: string, value: T, ...args: unknown[]): LiveAnswer<T> => {
    asked.push([name, ...args]);
    return { value, liteServers: [4], cached: false };
  };
  return {
    asked,
    readParam: async (param, seqno) => note('readParam', emptyCellBoc, param, seqno),
    readAll: async (seqno) => note('readAll', emptyCellBoc, seqno),
    readLibraries: async (hashes) =>
      note('readLibraries', [{ hash: hashes[0] ?? bytes32(0), data: emptyCellBoc }], hashes),
    ...script,
  };
}
