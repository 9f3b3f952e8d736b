import { Address, beginCell } from '@ton/core';

import { commentBody, jettonTransferBody } from '#service/devchain/demo/tokens.ts';

/** One HTTP request of the mixed load; `body` makes it a POST. */
export type MixedRequest = { readonly path: string; readonly body?: unknown };

/** The chain as the load sees it when it makes a request. */
export type DetectionContext = {
  /** Newest masterchain block. */
  readonly seqno: number;
  /** Raw addresses of the demonstration by name. */
  readonly demo: Readonly<Record<string, string>>;
  /** Raw addresses that requests name: those of the demonstration and those that the faucet paid. */
  readonly addresses: readonly string[];
  /** 0..1 */
  readonly random: () => number;
};

type Kind = (around: DetectionContext) => MixedRequest;

const masterchain = 'workchain=-1&shard=-9223372036854775808';

/** Every operation stands here once; the load takes all of them equally often. */
const v2: readonly Kind[] = [
  () => get('v2/getMasterchainInfo'),
  () => get('v2/getConsensusBlock'),
  (around) => get(`v2/getAddressInformation?address=${anyOf(around)}`),
  (around) => get(`v2/getAddressInformation?address=${anyOf(around)}&seqno=${past(around)}`),
  (around) => get(`v2/getExtendedAddressInformation?address=${anyOf(around)}`),
  (around) => get(`v2/getWalletInformation?address=${anyOf(around)}`),
  (around) => get(`v2/getAddressBalance?address=${anyOf(around)}&seqno=${past(around)}`),
  (around) => get(`v2/getAddressState?address=${anyOf(around)}`),
  (around) => get(`v2/getTransactions?address=${anyOf(around)}&limit=20`),
  (around) => get(`v2/getTransactionsStd?address=${around.demo['wallet v4r2']}&limit=50`),
  (around) => get(`v2/getTokenData?address=${around.demo['jetton minter']}`),
  (around) => get(`v2/getTokenData?address=${around.demo['NFT item']}`),
  (around) => get(`v2/getShardAccountCell?address=${anyOf(around)}`),
  (around) => get(`v2/getShards?seqno=${past(around)}`),
  (around) => get(`v2/getBlockHeader?${masterchain}&seqno=${past(around)}`),
  (around) => get(`v2/lookupBlock?${masterchain}&seqno=${past(around)}`),
  (around) => get(`v2/getBlockTransactionsExt?${masterchain}&seqno=${past(around)}&count=40`),
  (around) => get(`v2/getBlockTransactions?${masterchain}&seqno=${past(around)}&count=40`),
  (around) => get(`v2/getMasterchainBlockSignatures?seqno=${past(around)}`),
  (around) => get(`v2/getShardBlockProof?${masterchain}&seqno=${past(around)}`),
  () => get('v2/getConfigAll'),
  () => get('v2/getConfigParam?config_id=20'),
  () => get('v2/getOutMsgQueueSize'),
  (around) => get(`v2/packAddress?address=${anyOf(around)}`),
  (around) => ({
    path: '/api/v2/jsonRPC',
    body: [1, 2, 3, 4].map((id) => ({
      jsonrpc: '2.0',
      id,
      method: 'getAddressInformation',
      params: { address: anyOf(around) },
    })),
  }),
];

const methods: readonly Kind[] = [
  ({ demo }) => runMethod('v2', demo['jetton minter']!, 'get_jetton_data'),
  ({ demo }) => runMethod('v2', demo['wallet v4r2']!, 'seqno'),
  ({ demo }) => runMethod('v2', demo['NFT item']!, 'get_nft_data'),
  ({ demo }) => runMethod('v2', demo['multisig']!, 'get_multisig_data'),
  ({ demo }) => runMethod('v3', demo['NFT collection']!, 'get_collection_data'),
  ({ demo }) => runMethod('v3', demo['jetton wallet']!, 'get_wallet_data'),
  (around) => ({
    path: '/api/v2/runGetMethod',
    body: {
      address: around.demo['jetton minter'],
      method: 'get_wallet_address',
      stack: [['tvm.Slice', addressBag(anyOf(around))]],
    },
  }),
  (around) => ({
    path: '/api/v2/estimateFee',
    body: { address: anyOf(around), body: commentBody('an estimate').toBoc().toString('base64'), ignore_chksig: true },
  }),
];

const v3: readonly Kind[] = [
  () => get('v3/masterchainInfo'),
  (around) => get(`v3/blocks?mc_seqno=${past(around)}`),
  () => get('v3/blocks?limit=20&sort=desc'),
  (around) => get(`v3/transactions?account=${anyOf(around)}&limit=20`),
  () => get('v3/transactions?limit=50&sort=desc'),
  (around) => get(`v3/transactions?limit=10&sort=desc&offset=${below(around, 500)}`),
  (around) => get(`v3/transactionsByMasterchainBlock?seqno=${past(around)}&limit=100`),
  (around) => get(`v3/messages?destination=${anyOf(around)}&limit=20`),
  () => get('v3/messages?limit=50&sort=desc'),
  (around) => get(`v3/actions?account=${anyOf(around)}&limit=20`),
  (around) => get(`v3/actions?mc_seqno=${past(around)}&limit=50&include_accounts=true`),
  (around) => get(`v3/traces?account=${anyOf(around)}&limit=10&include_actions=true`),
  (around) => get(`v3/traces?mc_seqno=${past(around)}&limit=20&include_actions=true`),
  () => get('v3/traces?limit=20&sort=desc&include_actions=true'),
  (around) => get(`v3/accountStates?address=${anyOf(around)}&address=${anyOf(around)}`),
  (around) => get(`v3/walletStates?address=${anyOf(around)}`),
  (around) => get(`v3/addressBook?address=${anyOf(around)}`),
  (around) => get(`v3/metadata?address=${anyOf(around)}`),
  () => get('v3/topAccountsByBalance?limit=50'),
  () => get('v3/dns/records?domain=tonplane.ton'),
  () => get('v3/nft/items?limit=20'),
  () => get('v3/nft/collections?limit=20'),
  () => get('v3/jetton/masters?limit=20'),
  (around) => get(`v3/jetton/wallets?owner_address=${anyOf(around)}`),
  () => get('v3/jetton/transfers?limit=50'),
  ({ demo }) => get(`v3/multisig/wallets?address=${demo['multisig']}&include_orders=true`),
  ({ demo }) => get(`v3/multisig/orders?multisig_address=${demo['multisig']}&parse_actions=true`),
  ({ demo }) => get(`v3/vesting?contract_address=${demo['vesting wallet']}`),
  (around) => get(`v3/pendingTransactions?account=${anyOf(around)}`),
  (around) => get(`v3/addressInformation?address=${anyOf(around)}`),
  (around) => get(`v3/walletInformation?address=${anyOf(around)}`),
  (around) => ({ path: '/api/v3/decode', body: { bodies: [jettonBody(around)] } }),
];

/** One of all operations that read, of v2, v3 and get-methods. */
export function readRequest(around: DetectionContext): MixedRequest {
  const kinds = [...v2, ...methods, ...v3];
  return kinds[below(around, kinds.length)]!(around);
}

/** 0 to `bound` - 1. */
export function below({ random }: Pick<DetectionContext, 'random'>, bound: number): number {
  return Math.floor(random() * bound);
}

export function anyOf(around: DetectionContext): string {
  return around.addresses[below(around, around.addresses.length)]!;
}

/** Half of the blocks asked for are among the newest hundred; others come from the last thousand. */
function past(around: DetectionContext): number {
  const span = Math.min(around.seqno - 2, around.random() < 0.5 ? 100 : 1000);
  return around.seqno - below(around, Math.max(1, span));
}

function get(path: string): MixedRequest {
  return { path: `/api/${path}` };
}

function runMethod(version: 'v2' | 'v3', address: string, method: string): MixedRequest {
  return { path: `/api/${version}/runGetMethod`, body: { address, method, stack: [] } };
}

function addressBag(address: string): string {
  return beginCell().storeAddress(Address.parse(address)).endCell().toBoc().toString('base64');
}

function jettonBody(around: DetectionContext): string {
  const [to, back] = [anyOf(around), anyOf(around)].map((address) => Address.parse(address));
  return jettonTransferBody(to!, back!, BigInt(below(around, 1_000_000)), 'a comment')
    .toBoc()
    .toString('base64');
}
