import { createHash } from 'node:crypto';

import { formatFriendlyAddress, formatRawAddress, type ParsedAddress } from '../decode/address.ts';
import type { KnownRecord } from '../live/tokens/dns-records.ts';
import type { TokenContent } from '../live/tokens/token-content.ts';
import type {
  DomainContent,
  JettonMaster,
  JettonWallet,
  LiveTokens,
  NftCollection,
  NftItem,
  Token,
} from '../live/tokens/tokens.ts';
import { spelledAddress } from './address-parameter.ts';
import { optionalSeqno } from './integer-parameter.ts';
import { defineOperation, mapAnswer, type Operation } from '../contract/operation.ts';
import { boc, flag, friendlyAddress, hexHash, int32, text } from './scalars.ts';
import {
  constant,
  named,
  object,
  oneOf,
  optional,
  scalar,
  variants,
  type Infer,
  type Shape,
} from '../contract/shape.ts';
import { int256 } from './stack-shapes.ts';

const echoedAddress = named(
  'EchoedAddress',
  scalar<string>({
    type: 'string',
    pattern: '^(?:-?\\d{1,10}:[0-9A-F]{64}|[A-Za-z0-9_-]{48})$',
    description: 'the requested address, normalised',
  }),
);

/** An object that may have any of these fields, and others whose names fit a pattern. */
function record<T>(names: readonly string[], otherNames: string, value: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, value.schema])),
      patternProperties: { [otherNames]: value.schema },
      additionalProperties: false,
    },
    definitions: value.definitions,
  };
}

const attributeNames = [
  'amount_style',
  'decimals',
  'description',
  'image',
  'image_data',
  'name',
  'render_type',
  'symbol',
  'uri',
];

const tokenContent = named(
  'TokenContent',
  variants('type', { offchain: 'OffchainContent', onchain: 'OnchainContent' }, [
    named('OffchainContent', object({ type: constant('offchain'), data: text })),
    named(
      'OnchainContent',
      object({ type: constant('onchain'), data: record(attributeNames, '^[0-9a-f]{64}$', text) }),
    ),
  ]),
);

const smcAddress = named('SmcAddr', object({ '@type': constant('addr_std'), workchain_id: int32, address: hexHash }));

const dnsRecord = named(
  'DnsRecord',
  variants(
    '@type',
    {
      dns_storage_address: 'DnsRecordStorage',
      dns_adnl_address: 'DnsRecordAdnl',
      dns_smc_address: 'DnsRecordSmc',
      dns_next_resolver: 'DnsRecordResolver',
    },
    [
      named('DnsRecordStorage', object({ '@type': constant('dns_storage_address'), bag_id: hexHash })),
      named('DnsRecordAdnl', object({ '@type': constant('dns_adnl_address'), adnl_addr: hexHash })),
      named('DnsRecordSmc', object({ '@type': constant('dns_smc_address'), smc_addr: smcAddress })),
      named('DnsRecordResolver', object({ '@type': constant('dns_next_resolver'), resolver: smcAddress })),
    ],
  ),
);

const categoryNames = ['dns_next_resolver', 'wallet', 'site', 'storage'] as const;

const dnsContent = named(
  'DnsContent',
  object({
    domain: scalar<string>({ type: 'string', minLength: 1 }),
    data: named('DnsRecordSet', record(categoryNames, '^[0-9A-F]{64}$', dnsRecord)),
  }),
);

const jettonMaster = named(
  'JettonMasterData',
  object({
    '@type': constant('ext.tokens.jettonMasterData'),
    address: echoedAddress,
    contract_type: constant('jetton_master'),
    total_supply: int256,
    mintable: flag,
    admin_address: optional(friendlyAddress),
    jetton_content: tokenContent,
    jetton_wallet_code: boc,
  }),
);

const jettonWallet = named(
  'JettonWalletData',
  object({
    '@type': constant('ext.tokens.jettonWalletData'),
    address: echoedAddress,
    contract_type: constant('jetton_wallet'),
    balance: int256,
    owner: friendlyAddress,
    jetton: friendlyAddress,
    mintless_is_claimed: optional(flag),
    jetton_wallet_code: boc,
  }),
);

const nftCollection = named(
  'NftCollectionData',
  object({
    '@type': constant('ext.tokens.nftCollectionData'),
    address: echoedAddress,
    contract_type: constant('nft_collection'),
    next_item_index: int256,
    owner_address: optional(friendlyAddress),
    collection_content: tokenContent,
  }),
);

const nftItem = named(
  'NftItemData',
  object({
    '@type': constant('ext.tokens.nftItemData'),
    address: echoedAddress,
    contract_type: constant('nft_item'),
    init: flag,
    index: int256,
    collection_address: optional(friendlyAddress),
    owner_address: optional(friendlyAddress),
    content: oneOf([tokenContent, dnsContent]),
  }),
);

const tokenData = named(
  'TokenData',
  variants(
    '@type',
    {
      'ext.tokens.jettonMasterData': 'JettonMasterData',
      'ext.tokens.jettonWalletData': 'JettonWalletData',
      'ext.tokens.nftCollectionData': 'NftCollectionData',
      'ext.tokens.nftItemData': 'NftItemData',
    },
    [jettonMaster, jettonWallet, nftCollection, nftItem],
  ),
);

/** @param asked the requested address, echoed: raw in upper case, friendly with its flags (service/v2/README.md#token-data) */
export function viewToken(asked: ParsedAddress, token: Token): Infer<typeof tokenData> {
  const address = echo(asked);
  switch (token.kind) {
    case 'jettonMaster':
      return viewJettonMaster(address, token);
    case 'jettonWallet':
      return viewJettonWallet(address, token);
    case 'nftCollection':
      return viewNftCollection(address, token);
    case 'nftItem':
      return viewNftItem(address, token);
    default:
      return token satisfies never;
  }
}

function viewJettonMaster(address: string, token: JettonMaster): Infer<typeof jettonMaster> {
  return {
    '@type': 'ext.tokens.jettonMasterData',
    address,
    contract_type: 'jetton_master',
    total_supply: token.totalSupply.toString(),
    mintable: token.mintable,
    ...(token.admin !== undefined && { admin_address: formatFriendlyAddress(token.admin) }),
    jetton_content: viewContent(token.content),
    jetton_wallet_code: token.walletCode.toString('base64'),
  };
}

function viewJettonWallet(address: string, token: JettonWallet): Infer<typeof jettonWallet> {
  const { mintlessIsClaimed } = token;
  return {
    '@type': 'ext.tokens.jettonWalletData',
    address,
    contract_type: 'jetton_wallet',
    balance: token.balance.toString(),
    owner: formatFriendlyAddress(token.owner),
    jetton: formatFriendlyAddress(token.jetton),
    ...(mintlessIsClaimed !== undefined && { mintless_is_claimed: mintlessIsClaimed }),
    jetton_wallet_code: token.walletCode.toString('base64'),
  };
}

function viewNftCollection(address: string, token: NftCollection): Infer<typeof nftCollection> {
  return {
    '@type': 'ext.tokens.nftCollectionData',
    address,
    contract_type: 'nft_collection',
    next_item_index: token.nextItemIndex.toString(),
    ...(token.owner !== undefined && { owner_address: formatFriendlyAddress(token.owner) }),
    collection_content: viewContent(token.content),
  };
}

function viewNftItem(address: string, token: NftItem): Infer<typeof nftItem> {
  const { content } = token;
  return {
    '@type': 'ext.tokens.nftItemData',
    address,
    contract_type: 'nft_item',
    init: token.init,
    index: token.index.toString(),
    ...(token.collection !== undefined && { collection_address: formatFriendlyAddress(token.collection) }),
    ...(token.owner !== undefined && { owner_address: formatFriendlyAddress(token.owner) }),
    content: content.kind === 'domain' ? viewDomain(content) : viewContent(content),
  };
}

function echo(asked: ParsedAddress): string {
  const { form, bounceable, testOnly } = asked;
  return form === 'raw' ? formatRawAddress(asked, 'upper') : formatFriendlyAddress(asked, { bounceable, testOnly });
}

function viewContent(content: TokenContent): Infer<typeof tokenContent> {
  if (content.kind === 'offchain') return { type: 'offchain', data: content.uri };
  return { type: 'onchain', data: Object.fromEntries(content.attributes) };
}

const categories: ReadonlyMap<string, string> = new Map(
  categoryNames.map((name) => [createHash('sha256').update(name).digest('hex'), name]),
);

/** Records of a kind that the contract names, under their category's name or its hash; standard categories first. */
function viewDomain({ domain, records }: DomainContent): Infer<typeof dnsContent> {
  const shown = new Map<string, Infer<typeof dnsRecord>>();
  for (const { category, record: value } of records) {
    const hex = category.toString('hex');
    const view = viewRecord(value);
    if (view !== undefined) shown.set(categories.get(hex) ?? hex.toUpperCase(), view);
  }
  const standard = categoryNames.flatMap((name) => (shown.has(name) ? [[name, shown.get(name)!] as const] : []));
  return { domain, data: Object.fromEntries([...standard, ...shown]) };
}

function viewRecord(value: KnownRecord): Infer<typeof dnsRecord> | undefined {
  switch (value.kind) {
    case 'storageAddress':
      return { '@type': 'dns_storage_address', bag_id: value.bagId.toString('hex') };
    case 'adnlAddress':
      return { '@type': 'dns_adnl_address', adnl_addr: value.address.toString('hex') };
    case 'smcAddress':
      return { '@type': 'dns_smc_address', smc_addr: viewSmcAddress(value.address) };
    case 'nextResolver':
      return { '@type': 'dns_next_resolver', resolver: viewSmcAddress(value.resolver) };
    default:
      return undefined;
  }
}

function viewSmcAddress({ workchain, id }: { workchain: number; id: Buffer }): Infer<typeof smcAddress> {
  return { '@type': 'addr_std', workchain_id: workchain, address: id.toString('hex') };
}

export function tokenOperations(tokens: LiveTokens): readonly Operation[] {
  return [
    defineOperation({
      name: 'getTokenData',
      methods: ['GET', 'POST'],
      tag: 'accounts',
      failures: [409],
      summary: 'Verified data of a jetton master, jetton wallet, NFT collection or NFT item.',
      parameters: { address: spelledAddress, seqno: optionalSeqno },
      result: tokenData,
      handle: async ({ address, seqno }, context) =>
        mapAnswer(await tokens.readToken(address, seqno, context), (token) => viewToken(address, token)),
    }),
  ];
}
