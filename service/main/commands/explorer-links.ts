import { formatFriendlyAddress, parseAddress } from '#service/decode/address.ts';
import type { MethodParameter } from '#service/devchain/dev/method-table.ts';

/**
 * Paths of the explorer for what a command acted on: each account that the command names, then the block of its result.
 * A masterchain has one shard, whose number is `8000000000000000`.
 */
export function explorerPaths(
  parameters: readonly MethodParameter[],
  params: Readonly<Record<string, unknown>>,
  result: unknown,
): string[] {
  const accounts = parameters
    .filter(({ kind }) => kind === 'address')
    .flatMap(({ name }) => {
      const value = params[name];
      const address = typeof value === 'string' ? parseAddress(value) : undefined;
      return address === undefined ? [] : [`/explorer/account/${formatFriendlyAddress(address)}`];
    });
  const seqno = typeof result === 'object' && result !== null && 'seqno' in result ? result.seqno : undefined;
  const block = typeof seqno === 'number' ? [`/explorer/block/-1:8000000000000000:${seqno}`] : [];
  return [...accounts, ...block];
}
