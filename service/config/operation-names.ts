/** Operations that a key may be restricted to, by the names that limits use. A test compares the list with the contracts. */
export const operationNames: readonly string[] = [
  // v2
  'getAddressInformation',
  'getAddressBalance',
  'getWalletInformation',
  'getAddressState',
  'getExtendedAddressInformation',
  'getShardAccountCell',
  'getMasterchainInfo',
  'getMasterchainBlockSignatures',
  'getConsensusBlock',
  'getShardBlockProof',
  'getShards',
  'getOutMsgQueueSize',
  'lookupBlock',
  'getBlockHeader',
  'getBlockTransactions',
  'getBlockTransactionsExt',
  'getTransactions',
  'getTransactionsStd',
  'tryLocateTx',
  'tryLocateResultTx',
  'tryLocateSourceTx',
  'sendBoc',
  'sendBocReturnHash',
  'sendBocReturnHashNoError',
  'getConfigParam',
  'getConfigAll',
  'getLibraries',
  'detectAddress',
  'packAddress',
  'unpackAddress',
  'detectHash',
  'getTokenData',
  'runGetMethodStd',
  'dnsResolve',
  // v2 with api.v2.legacyOperations
  'sendQuery',
  'sendQuerySimple',
  'sendCellSimple',
  'estimateFeeSimple',
  'sendBocUnsafe',
  // v2 and v3
  'runGetMethod',
  'estimateFee',
  // v3
  'masterchainInfo',
  'blocks',
  'masterchainBlockShardState',
  'masterchainBlockShards',
  'transactions',
  'transactionsByMasterchainBlock',
  'transactionsByMessage',
  'adjacentTransactions',
  'messages',
  'addressBook',
  'accountStates',
  'walletStates',
  'topAccountsByBalance',
  'metadata',
  'jetton/masters',
  'jetton/wallets',
  'jetton/transfers',
  'jetton/burns',
  'nft/collections',
  'nft/items',
  'nft/transfers',
  'nft/sales',
  'traces',
  'events',
  'actions',
  'balanceChanges',
  'addressInformation',
  'walletInformation',
  'message',
  'decode',
  'dns/records',
  'multisig/wallets',
  'multisig/orders',
  'vesting',
  'pendingTransactions',
  'pendingTraces',
  'pendingActions',
  // emulation
  'emulateTrace',
  'emulateTonConnect',
  // streaming: a stream, and each further subscription
  'streaming',
  // outside of the contracts
  'usage',
  'faucet',
];

/** Further names of operations, as paths have them. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['shards', 'getShards'],
  ['account', 'addressInformation'],
  ['wallet', 'walletInformation'],
]);

const byName: ReadonlyMap<string, string> = new Map([
  ...operationNames.map((name): [string, string] => [name, name]),
  ...aliases,
]);

/** Returns the name of an operation in limits, from any of its names, case-sensitive; undefined for an unknown name. */
export function operationNamed(name: string): string | undefined {
  return byName.get(name);
}

/** Suggests at most five names for a wrong name. Names equal except for case and path come first, else names that contain it. */
export function similarOperations(name: string): readonly string[] {
  const wanted = name.replace(/^\/?(?:api\/)?(?:v[23]\/|emulate\/v1\/)?/i, '').toLowerCase();
  const same = operationNames.filter((each) => each.toLowerCase() === wanted);
  if (same.length > 0 || wanted.length < 3) return same;
  return operationNames.filter((each) => each.toLowerCase().includes(wanted)).slice(0, 5);
}
