/**
 * Classes of functions with about the same cost for a lite server. `light` reads an index or a header, `state` walks a state, `heavy` loads blocks or
 * long lists.
 */
export type MethodClass = 'light' | 'state' | 'heavy';

export const methodClasses: readonly MethodClass[] = ['light', 'state', 'heavy'];

const stateFunctions = new Set([
  'getAccountState',
  'getAccountStatePrunned',
  'runSmcMethod',
  'getShardInfo',
  'getConfigAll',
  'getConfigParams',
  'getValidatorStats',
  'getLibrariesWithProof',
  'getOutMsgQueueSizes',
  'getBlockOutMsgQueueSize',
  'getDispatchQueueInfo',
  'getDispatchQueueMessages',
  'lookupBlockWithProof',
]);

const heavyFunctions = new Set([
  'getBlock',
  'getState',
  'getTransactions',
  'getOneTransaction',
  'listBlockTransactions',
  'listBlockTransactionsExt',
  'getBlockProof',
  'getAllShardsInfo',
  'getShardBlockProof',
]);

/** Returns the class of a function by its name; `light` for a function in no list. */
export function methodClassOf(functionName: string): MethodClass {
  if (stateFunctions.has(functionName)) return 'state';
  return heavyFunctions.has(functionName) ? 'heavy' : 'light';
}
