/** A difference from the Python server that is meant. */
export type PeerDifference = {
  /** Operations by name. */
  readonly of: RegExp;
  /** Place in the result, list indexes as `*`; or `status`. */
  readonly at: RegExp;
  /** How both values must be related; any way when absent. Undefined stands for no such field. */
  readonly related?: (ours: unknown, theirs: unknown) => boolean;
  readonly why: string;
};

const onlyOurs = (_ours: unknown, theirs: unknown): boolean => theirs === undefined;

const onlyTheirs = (ours: unknown): boolean => ours === undefined;

const sameText = (ours: unknown, theirs: unknown): boolean => String(ours) === String(theirs);

const sameWithoutCase = (ours: unknown, theirs: unknown): boolean =>
  String(ours).toLowerCase() === String(theirs).toLowerCase();

const sameWithoutNewlines = (ours: unknown, theirs: unknown): boolean =>
  String(ours).replaceAll('\n', '') === String(theirs).replaceAll('\n', '');

const sameInBase64Url = (ours: unknown, theirs: unknown): boolean =>
  ours === String(theirs).replaceAll('+', '-').replaceAll('/', '_');

/** Ours ends with a bit that says where the data ends, theirs does not. */
const sameButLastByte = (ours: unknown, theirs: unknown): boolean => {
  const [a, b] = [Buffer.from(String(ours), 'base64'), Buffer.from(String(theirs), 'base64')];
  const last = (a.at(-1) ?? 0) & ((a.at(-1) ?? 0) - 1);
  return a.length === b.length && a.subarray(0, -1).equals(b.subarray(0, -1)) && last === b.at(-1);
};

const refused =
  (status: number, ...theirs: number[]) =>
  (ours: unknown, peer: unknown): boolean =>
    ours === status && theirs.includes(Number(peer));

const accounts = /^get(AddressInformation|ExtendedAddressInformation|WalletInformation)$/;
const oneTransaction = /^(getTransactions|tryLocate\w*Tx)$/;

/** Numbers in brackets are rows of the page (service/v2/README.md#differences-from-ton-center). */
export const peerDifferences: readonly PeerDifference[] = [
  { of: /./, at: /\.@extra$/, related: onlyTheirs, why: 'the envelope has it, not the result (#2)' },
  {
    of: accounts,
    at: /\.suspended$/,
    related: onlyOurs,
    why: 'configuration parameter 44 says it; the peer does not (#22)',
  },
  {
    of: accounts,
    at: /\.balance$/,
    related: (ours, theirs) => ours === '0' && (theirs === 0 || theirs === '-1'),
    why: 'an amount is a string, and an account that is not there has none: 0, not -1',
  },
  {
    of: /^getExtendedAddressInformation$/,
    at: /\.account_state\.\w+$/,
    related: (ours, theirs) => typeof ours === 'number' && sameText(ours, theirs),
    why: 'small integers are JSON integers (#11)',
  },
  { of: /^getWalletInformation$/, at: /\.@type$/, related: onlyOurs, why: 'every object has its type' },
  {
    of: /^getWalletInformation$/,
    at: /\.extra_currencies$/,
    related: onlyTheirs,
    why: 'of getAddressInformation',
  },
  { of: /^getConsensusBlock$/, at: /\.@type$/, related: onlyOurs, why: 'every object has its type (#13)' },
  {
    of: /^getConsensusBlock$/,
    at: /\.timestamp$/,
    related: (ours) => Number.isInteger(ours),
    why: 'each saw the block when it came to it; whole seconds (#13)',
  },
  {
    of: /^getBlockHeader$/,
    at: /\.(flags|vert_seqno)$/,
    related: onlyTheirs,
    why: 'not part of the contract',
  },
  {
    of: /^getBlockTransactionsExt$/,
    at: /\.transactions\.\*\.@type$/,
    related: (ours, theirs) => ours === 'raw.transactionExt' && theirs === 'raw.transaction',
    why: 'named after its list',
  },
  {
    of: /^getBlockTransactionsExt$/,
    at: /\.transactions\.\*\.account$/,
    related: sameWithoutCase,
    why: 'raw addresses of transactions in capitals',
  },
  {
    of: oneTransaction,
    at: /\.@type$/,
    related: (ours, theirs) => String(ours).startsWith('ext.') && String(theirs).startsWith('raw.'),
    why: 'the extended form has a type of its own',
  },
  {
    of: oneTransaction,
    at: /\.account$/,
    related: onlyOurs,
    why: 'the extended form names its account',
  },
  {
    of: oneTransaction,
    at: /\.message$/,
    related: sameWithoutNewlines,
    why: 'base64 with one newline at its end (#19)',
  },
  {
    of: /^tryLocate/,
    at: /^status$/,
    related: refused(200, 500, 503),
    why: 'the peer looks in three blocks and at the newest transactions; the message is further away',
  },
  { of: /^tryLocate/, at: /^status$/, related: refused(404, 500, 503), why: 'nothing found is 404 (#24)' },
  {
    of: /^sendBoc/,
    at: /^status$/,
    related: refused(200, 500),
    why: 'the network has the message, from us a moment ago: that is what was asked for',
  },
  {
    of: /^sendBoc/,
    at: /^status$/,
    related: refused(422, 500),
    why: 'what is no message is a mistake of the caller: 4xx',
  },
  {
    of: /^getLibraries$/,
    at: /^status$/,
    related: refused(200, 422),
    why: 'no libraries asked for are none found',
  },
  { of: /^detectAddress$/, at: /\.@type$/, related: onlyOurs, why: 'every object has its type' },
  { of: /^packAddress$/, at: /^$/, related: sameInBase64Url, why: 'base64url (#9)' },
  { of: /^unpackAddress$/, at: /^$/, related: sameWithoutCase, why: 'capitals (#9)' },
  {
    of: /^runGetMethod$/,
    at: /\.data\.b64$/,
    related: sameButLastByte,
    why: 'bits as they are stored, with the completion tag',
  },
  {
    of: /^getTokenData$/,
    at: /\.(@type|address)$/,
    related: onlyOurs,
    why: 'every object has its type and its account (#10)',
  },
  {
    of: /^getTokenData$/,
    at: /\.(total_supply|balance|index|next_item_index)$/,
    related: sameText,
    why: 'amounts and indexes are strings (#10)',
  },
  {
    of: /^getTokenData$/,
    at: /^status$/,
    related: refused(409, 500, 503),
    why: 'a contract that is no token is told as such, also where the peer stumbles over its answers (#12)',
  },
  {
    of: /^getTokenData$/,
    at: /^status$/,
    related: refused(200, 500),
    why: 'the peer knows DNS items of the main network alone, and cannot read the content of others',
  },
  {
    of: /^estimateFee$/,
    at: /\.source_fees\.gas_fee$/,
    related: (ours) => ours === 0,
    why: 'a message that is not accepted costs no gas',
  },
];
