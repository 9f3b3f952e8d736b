import type { WalletData, WalletOrder } from './wallet-layouts.ts';

/**
 * Known code of contracts: what the representation hash of an account's code says about the account.
 * This list is the only place of the service that spells such a hash (service/decode/README.md#how-to-add-known-code).
 */
export type KnownCode = {
  /** Name of the contract and its revision. Several codes may share a name. */
  readonly name: string;
  /** Representation hash, standard base64. */
  readonly hash: string;
  /** False if `interfaces` of v3 do not show the name, because TON Center does not know this code. Default true. */
  readonly isInterface?: false;
  readonly wallet?: WalletVersion;
  readonly tonlib?: TonlibState;
  /** Layout of the data of a sale of Getgems. */
  readonly sale?: 'v1' | 'v2' | 'v4';
  /** Layout of the data of an auction of Getgems. */
  readonly auction?: 'v1' | 'v2' | 'v3' | 'v4';
};

/** Version of a wallet. */
export type WalletVersion = {
  /** Wallet type in answers of v2 and v3. */
  readonly type: string;
  readonly data: WalletData;
  /** Layout of a signed external message; undefined: Ton Connect does not support the wallet. */
  readonly order: WalletOrder | undefined;
  /** Most messages that one external message makes the wallet send. */
  readonly messagesMax: number;
};

/** State of an account in tonlib's words: service/live/contracts/known-contracts.ts. */
export type TonlibState = {
  readonly kind: 'wallet.v3' | 'wallet.v4' | 'wallet.highload.v1' | 'wallet.highload.v2' | 'dns' | 'pchan' | 'rwallet';
  /** Number of the code among codes of its kind, as tonlib counts. */
  readonly revision: number;
};

/** Wallets, in the order in which the documents of v2 and v3 list their types. */
const walletCodes = [
  {
    name: 'wallet_v1r1',
    hash: 'oM/CxIruFqJx8s/AtzgtgXVs7LEBfQd/qqs7tgL2how=',
    wallet: { type: 'wallet v1 r1', data: 'seqno', order: 'v1', messagesMax: 1 },
  },
  {
    name: 'wallet_v1r2',
    hash: '1JAvzJ+tdGmPqONTIgpo2g3PcuMryy657gQhfBfTBiw=',
    wallet: { type: 'wallet v1 r2', data: 'seqno', order: 'v1', messagesMax: 1 },
  },
  {
    name: 'wallet_v1r3',
    hash: 'WHzHie/xyE9G7DeX5F/ICaFP9a4k8eDHpqmcydyQYf8=',
    wallet: { type: 'wallet v1 r3', data: 'seqno', order: 'v1', messagesMax: 1 },
  },
  {
    name: 'wallet_v2r1',
    hash: 'XJpeaMEI4YchoHxC+ZVr+zmtd+xtYktgxXbsiO7mUyk=',
    wallet: { type: 'wallet v2 r1', data: 'seqno', order: 'v2', messagesMax: 4 },
  },
  {
    name: 'wallet_v2r2',
    hash: '/pUw0yQ4Uwg+8u8LTCkIwKv2+hwx6iQ6rKpb+MfXU/E=',
    wallet: { type: 'wallet v2 r2', data: 'seqno', order: 'v2', messagesMax: 4 },
  },
  {
    name: 'wallet_v3r1',
    hash: 'thBBpYp5gLlG6PueGY48kE0keZ/6NldOpCUcQaVm9YE=',
    wallet: { type: 'wallet v3 r1', data: 'seqno_id', order: 'v3', messagesMax: 4 },
    tonlib: { kind: 'wallet.v3', revision: 1 },
  },
  {
    name: 'wallet_v3r2',
    hash: 'hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=',
    wallet: { type: 'wallet v3 r2', data: 'seqno_id', order: 'v3', messagesMax: 4 },
    tonlib: { kind: 'wallet.v3', revision: 2 },
  },
  {
    name: 'wallet_v4r1',
    hash: 'ZN1UgFUixb6KnbWc6gEFzPDQh4bKeb64y3nogKjXMi0=',
    wallet: { type: 'wallet v4 r1', data: 'seqno_id', order: 'v4', messagesMax: 4 },
  },
  {
    name: 'wallet_v4r2',
    hash: '/rX/aCDi/w2Ug+fg1iyBfYRniftK5YDIeIZtlZ2r1cA=',
    wallet: { type: 'wallet v4 r2', data: 'seqno_id', order: 'v4', messagesMax: 4 },
    tonlib: { kind: 'wallet.v4', revision: 2 },
  },
  {
    name: 'wallet_v5_beta',
    hash: '89fKU0k97trCizgZhqhJQDy6w9LFhHea8IEGWvCsS5M=',
    wallet: { type: 'wallet v5 beta', data: 'v5_beta', order: undefined, messagesMax: 255 },
  },
  {
    name: 'wallet_v5r1',
    hash: 'IINLe3KxEhR+Gy+0V7hOdNGjDwT3N9T2KmaOlVLSty8=',
    wallet: { type: 'wallet v5 r1', data: 'v5', order: 'v5', messagesMax: 255 },
  },
] as const satisfies readonly KnownCode[];

const otherCodes: readonly KnownCode[] = [
  { name: 'airdrop_interlocker_v1', hash: 'rNK47E23QUOW+lNphlPswEpBbuNknY9bILQfF2rYM/A=' },
  { name: 'airdrop_interlocker_v2', hash: 'D/RKlvwkgRESNtjZkg/W4pthCCFePsW6dh6tlgKtraQ=' },
  { name: 'gram_miner', hash: 'zK5v+2A8fT53mrWewmf/wi3B6+CvmDmQIomnqD5MAPE=' },
  { name: 'jetton_wallet_v1', hash: 'vrBoPr64kn/p/I7AoYvH3ReJlomCWhIeq0bFo6hg0M4=' },
  { name: 'jetton_wallet_v2', hash: 'jSjqQht36AX+pSrPM1KWSZ8Drsjp/SHdtfJWSqZcSN4=' },
  { name: 'jetton_wallet_governed', hash: 'iUaPAseOVwgC45l5yFFvw43wfqdqSDV+BTbyuns+43s=' },
  { name: 'moon_pool', hash: 'KAgWUlMoah5P5j76ubo1SBE3qsCxoPntzLj2RC3eRsQ=' },
  { name: 'moon_booster', hash: 'zoTDgsi2rA0FISu6o00F5U4eMOLMkony2cnWRyahEqg=' },
  { name: 'moon_order_factory', hash: '0Ec31vZ4EDqeRIwiEJkZ0PnL4F7xsag8XnuIZoOlRwQ=' },
  { name: 'moon_order', hash: 'iMONKVhrXXSLrbx7Tb/iOcJcuFypxFhqROBVB6bt9qY=' },
  { name: 'moon_order', hash: '7gcUCzzP4mHtKFgPYKFr2kxLnG19p64F9bfH4rHf4iY=' },
  { name: 'multisig_v2', hash: '09FNqaYn8Ow1MzQYKXYq+SuVQLIb8DZl+sCcK0bqu6w=' },
  { name: 'multisig_order_v2', hash: 'oB4Ff71CiEArmJjXjWe9TpAlTJPFhmh5vC0dEoZUNrw=' },
  { name: 'nft_offer_getgems_v1', hash: 'bl1mf6bvqBh8bQKe/UAVYBIy/S42wpHbw0be2rbcgCQ=' },
  { name: 'nft_sale_getgems_v4', hash: 'a5WmQYucnSNZBF0edVm41UmuDlBvJMqrWPowyPsf64Y=', sale: 'v4' },
  { name: 'nft_sale_getgems_v3', hash: 'JCIfpXHlQuBVx3vt/b9SfHr0YM/cfzRMRQeHtM+h600=', sale: 'v2' },
  { name: 'nft_sale_getgems_v3', hash: '3rU7bFdlwebNI4v0e8XoO6WWvcwEsLhM1Qqx5HSgjzE=', sale: 'v2' },
  { name: 'nft_sale_getgems_v3', hash: 'MgUN+sRPZIZrzIbyzZ4TBf6dyts5WcACI3z7CQLUQyM=', sale: 'v2' },
  { name: 'nft_sale_getgems_v2', hash: 'gnj0xSM95vvtyWmvUZNEp6m//FRIVtuphqlcC8+Fcck=', sale: 'v2' },
  { name: 'nft_auction_getgems_v3', hash: 'G9nFo5v/t6DzQViLXdkrgTqEK/Ze8UEJOCIAzq+Pct8=', auction: 'v2' },
  { name: 'nft_auction_getgems_v3', hash: 'ZmiHL6eXBUQ//UdSPo6eqfdquZ+aC1nSfej4GhwnudQ=', auction: 'v2' },
  { name: 'nft_auction_getgems_v4', hash: 'zlp4U06qps7tja/UhtB262CpsNbb+1Nnb2YmScBomVY=', auction: 'v4' },
  { name: 'nft_item_simple', hash: 'TJEjgoaC+m9DeXq0FzK8qJDK4Bdm4GdBACUFFuC/jUI=' },
  { name: 'omniston_referral', hash: '7cxi8XUil/vaJAjAnKQgs6+VKBAuM7ngoOvjhVPBj+w=' },
  { name: 'omniston_referral', hash: 'bNo1HDwO42iHOl6hD1O5pHpVqs3I3rP9EDwvloyVJSc=' },
  { name: 'subscription_v2', hash: 'XUG7cGLs/yqv7/IFppEtfFyyIwjbHRLCCH3IzAORwy4=' },
  { name: 'coffee_mev_protector', hash: 'WPvC26JoTTi4C/zj3Fqf/OAK+bRkx7TcIc9X46rhHxw=' },
  { name: 'coffee_cross_dex', hash: '/qnGoe9eqyxcqU1r7x4zmUxXhqvrUmR2DhUNozv7Nnc=' },
  { name: 'jetton_wallet_coffee_lp', hash: '18OPqZSoKCZXIJ+T68Xf6Qil8G0uQfDAhekXvE9UorM=' },
  { name: 'tonco_pool', hash: 'vJR9FjRsL9yEW3pEY4L1nIassHXiox2/qVbNDJ5UZ44=' },
  { name: 'tonco_router', hash: 'm5iR6qfbe+zGzN2hvZqNJdw98oF9V+SyfsAD2vgaRDk=' },
  { name: 'tonkeeper_2fa', hash: 'xe8Z3yKu6LcHvXoYEXTkAKQiUiPFrkDYMg9d3XB9NKE=' },
  { name: 'wallet_v5_beta', hash: '5M87L0xtamHqDytUR9JmeFsmrzY32y3u5rzRqoJvNBI=' },
  {
    name: 'wallet_highload_v1r1',
    hash: '2M27t58sXKpnesRQdwvgNRviHhJQSG3oXMUqoz3RZIQ=',
    tonlib: { kind: 'wallet.highload.v1', revision: 1 },
  },
  { name: 'wallet_highload_v1r2', hash: 'Dc7tISadZgE+lbGfu1xVpvAa2tQIN7qo5SHN46AqpGw=' },
  {
    name: 'wallet_highload_v2',
    hash: 'lJTRzI7fEvBWcaGpugmSEJbrUIEeGSTsZcPGKfu4CBI=',
    tonlib: { kind: 'wallet.highload.v2', revision: -1 },
  },
  {
    name: 'wallet_highload_v2r1',
    hash: 'jOtFs81LXMYOquHBO5wJI5Jnf+U2sumy2AG2Lv+TH+E=',
    tonlib: { kind: 'wallet.highload.v2', revision: 1 },
  },
  { name: 'wallet_highload_v2r2', hash: 'ID3U81ittJmTEpqpJcrDmRa2ig5PeNJujywraer6Vnk=' },
  { name: 'wallet_highload_v3r1', hash: 'EayteVWEQJDyg78ji8FEmHH3g+fMCXlAjT9IWUg+hSU=' },
  { name: 'wallet_preprocessed_v2', hash: 'Reu86bXSNYhstr/hw62TtwjeBYJEiSNlye4N/kOct7U=' },
  { name: 'wallet_vesting', hash: 'tItTGr7DtxRjgpH3137W3J9qJynvyiBHcTc3TUrotZA=' },
  { name: 'x1000_wallet_v1', hash: 'Q9RHFtMmqDLO1WprYKAstnYw4E9Xhf6J+HhKEQzzYVE=' },
  { name: 'x1000_affiliate_account', hash: 'RFb60SpDTEiYsFrGW6td6A2zPydcYCB0bejhEaXNpOY=' },
  { name: 'x1000_affiliate_program', hash: 'yLuWL5k+Jp+RQ1u+dsG7rdb6Tq0+msgcoJdeGCDL7ws=' },
  {
    name: 'wallet_highload_v1r2',
    hash: 'NowDly5fTCRBK4GGUt4d4qJjDRwBFgmZnf90X7NoSa0=',
    isInterface: false,
    tonlib: { kind: 'wallet.highload.v1', revision: 2 },
  },
  {
    name: 'wallet_highload_v1',
    hash: 'CrH/k6nnnA3v9EBdja1rWsn4wBsvHry0JZ/rnpg4AJk=',
    isInterface: false,
    tonlib: { kind: 'wallet.highload.v1', revision: -1 },
  },
  {
    name: 'wallet_highload_v2r2',
    hash: 'CzqIeurNKn1Au1VQvJJTFWoCkGWu+21rWDc11Y2p1b4=',
    isInterface: false,
    tonlib: { kind: 'wallet.highload.v2', revision: 2 },
  },
  {
    name: 'wallet_restricted_r1',
    hash: 'jTUEm5Rs8ztYUQu0VgyEGpRfd4HW3p/GnKP0MPbjInM=',
    isInterface: false,
    tonlib: { kind: 'rwallet', revision: 1 },
  },
  {
    name: 'dns_r1',
    hash: 'oNZ9LeiRn+e3yndlLM1P3FbGid56aRYeRfsNzF5HwVU=',
    isInterface: false,
    tonlib: { kind: 'dns', revision: 1 },
  },
  {
    name: 'dns',
    hash: 'c1Ot4+H3y+3FJbPnvDIm/lrIJ2+lJ5rDf7bvvIj0Irc=',
    isInterface: false,
    tonlib: { kind: 'dns', revision: -1 },
  },
  { name: 'dns_item', hash: 'i1/8nr/TkGTY1fVuRlnIJrt1k5I/XKSHKL5NYK9vUfk=', isInterface: false },
  {
    name: 'payment_channel',
    hash: 'Da+y0ZPcWqW+4h62BwUQypR10vDW62Ks+b8Ckjznjgs=',
    isInterface: false,
    tonlib: { kind: 'pchan', revision: -1 },
  },
  { name: 'nominator_pool', hash: 'mj7BS8CY9rRAZMMFIiyuooAPF92oXuaoGYpwle3hDc8=', isInterface: false },
  { name: 'dedust_pool', hash: 'EnUJW22jkRKSQG9PQ4b554AJm4VMbe6e4old3OcJJ8E=', isInterface: false },
  { name: 'dedust_pool', hash: 'd48NP+ZILFCIiXDfXnh/QPOkqyghcMA1pZIIdwWMmdM=', isInterface: false },
  { name: 'dedust_pool', hash: 'wPnRT7yOFPDXLLoiFBZe7jWDarF0EwkSuvnb+kPq1WI=', isInterface: false },
  { name: 'nft_sale_getgems_v1', hash: '2pufziLofEllctIDZSWVebzO+RpyA1fMvowFLvyb4I8=', isInterface: false, sale: 'v1' },
  {
    name: 'nft_auction_getgems_v1',
    hash: '/ACindAgW83MDT/7nKOMw8jBWexg2KpUMkCpLxBZLUA=',
    isInterface: false,
    auction: 'v1',
  },
];

/** Every known code once. */
export const knownCodes: readonly KnownCode[] = [...walletCodes, ...otherCodes];

const codeByHash: ReadonlyMap<string, KnownCode> = new Map(knownCodes.map((code) => [code.hash, code]));

/** Known code by its representation hash in base64; undefined for any other code. */
export function knownCode(hash: string): KnownCode | undefined {
  return codeByHash.get(hash);
}

/** Hashes of all codes with a name, in base64. */
export function hashesOfCode(name: string): ReadonlySet<string> {
  return new Set(knownCodes.filter((code) => code.name === name).map(({ hash }) => hash));
}

type Wallets = (typeof walletCodes)[number]['wallet'];

/** Type of a wallet in answers of v2 and v3. */
export type WalletType = Wallets['type'];

/** Version of a known wallet. */
export type KnownWallet = WalletVersion & { readonly type: WalletType };

const walletByHash: ReadonlyMap<string, KnownWallet> = new Map(walletCodes.map(({ hash, wallet }) => [hash, wallet]));

/** Version of a wallet by the representation hash of its code in base64; undefined for any other code. */
export function knownWallet(hash: string): KnownWallet | undefined {
  return walletByHash.get(hash);
}

/** Types of all wallets, or of wallets with one layout of data. */
export function walletTypes(data?: WalletData): readonly WalletType[] {
  const listed = walletCodes.filter(({ wallet }) => data === undefined || wallet.data === data);
  return listed.map(({ wallet }) => wallet.type);
}
