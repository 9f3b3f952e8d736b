import { createCellStore } from '#service/decode/cell-store.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import type { AccountId } from '../accounts/accounts.ts';
import { readDnsRecords } from './dns-records.ts';
import { NO_CONTENT, readTokenContent } from './token-content.ts';
import type { TokenContent } from './token-content.ts';
import { asAddress, asCell, asInteger, names, orNone } from './token-contract.ts';
import type { TokenContract } from './token-contract.ts';
import type { DomainContent, NftCollection, NftItem } from './tokens.ts';
import { sliceEntry } from '#service/tvm/stack.ts';
import type { StackCell, StackEntry } from '#service/tvm/stack.ts';

/** `get_collection_data`: index of the next item, content, owner (TEP-62). */
export async function readNftCollection(contract: TokenContract): Promise<NftCollection | undefined> {
  const stack = await contract.run('get_collection_data', 3);
  const [nextItemIndex, content, owner] = [asInteger(stack?.[0]), asCell(stack?.[1]), asAddress(stack?.[2])];
  if (nextItemIndex === undefined || content === undefined || owner === undefined) return undefined;
  return { kind: 'nftCollection', nextItemIndex, owner: orNone(owner), content: readTokenContent(content) };
}

/**
 * Result of `get_nft_data`: initialized or not, index, collection, owner, own content (TEP-62).
 * Anybody can deploy a contract that claims these. The collection must confirm that the item of this index is this account.
 * An uninitialized item has neither owner nor content.
 */
export async function readNftItem(contract: TokenContract): Promise<NftItem | undefined> {
  const stack = await contract.run('get_nft_data', 5);
  const [init, index] = [asInteger(stack?.[0]), asInteger(stack?.[1])];
  const [collection, owner] = [asAddress(stack?.[2]), asAddress(stack?.[3])];
  if (init === undefined || index === undefined || collection === undefined || owner === undefined) return undefined;
  const ofCollection = orNone(collection);
  const numbered: StackEntry = { type: 'int', value: index };
  if (ofCollection !== undefined) {
    const item = await contract.at(ofCollection).run('get_nft_address_by_index', 1, [numbered]);
    if (!names(item, contract.account)) return undefined;
  }
  const domain = await readDomain(contract, ofCollection);
  const content = domain ?? (await readItemContent(contract, ofCollection, numbered, stack?.[4]));
  return {
    kind: 'nftItem',
    init: init !== 0n,
    index,
    collection: ofCollection,
    owner: orNone(owner),
    content,
  };
}

/** A collection puts the whole content together from what the item has of its own. */
async function readItemContent(
  contract: TokenContract,
  collection: AccountId | undefined,
  index: StackEntry,
  own: StackEntry | undefined,
): Promise<TokenContent> {
  const ownCell = asCell(own);
  if (ownCell === undefined) return NO_CONTENT;
  if (collection === undefined) return readTokenContent(ownCell);
  const stack = await contract.at(collection).run('get_nft_content', 1, [index, { type: 'cell', ...ownCell }]);
  const whole = asCell(stack?.[0]);
  return whole === undefined ? NO_CONTENT : readTokenContent(whole);
}

/** Asks a domain for all records of its own name, a zero byte (TEP-81). */
export const OWN_NAME: readonly StackEntry[] = [sliceEntry(zeroByte()), { type: 'int', value: 0n }];

/** A byte order mark is a character of the text as any other. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A domain's `dnsresolve` of its own name, a zero byte, in all categories, and its `get_domain` (TEP-81). */
async function readDomain(
  contract: TokenContract,
  collection: AccountId | undefined,
): Promise<DomainContent | undefined> {
  const stack = await contract.run('dnsresolve', 2, OWN_NAME);
  const records = stack?.[1];
  if (stack?.length !== 2 || records?.type !== 'cell') return undefined;
  const named = asCell((await contract.run('get_domain', 1))?.[0]);
  const name = named && readName(named);
  if (name === undefined || name === '') return undefined;
  // Names of other zones stay labels, as in TON Center's v2.
  const isTon = collection !== undefined && (await contract.zoneOf(collection)) === 'ton';
  try {
    return { kind: 'domain', domain: isTon ? `${name}.ton` : name, records: readKnownRecords(records) };
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Records of a type that TEP-81 names. Throws DecodeError. */
function readKnownRecords(root: StackCell): DomainContent['records'] {
  const found = readDnsRecords(root, new ReadBudget());
  return found.flatMap(({ category, known }) => (known === undefined ? [] : [{ category, record: known }]));
}

function readName({ table, cell }: StackCell): string | undefined {
  const start = table.dataOffset(cell);
  try {
    return utf8.decode(table.bytes.subarray(start, start + (table.bitLength(cell) >> 3)));
  } catch {
    return undefined;
  }
}

function zeroByte(): StackCell {
  const table = createCellStore({ cellsMax: 1 });
  return { table, cell: table.add({ data: Buffer.alloc(1), bitLength: 8, refs: [] }) };
}
