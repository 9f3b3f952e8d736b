import { parseBoc } from '#service/decode/boc.ts';
import { methodIds } from '#service/decode/method-ids.ts';
import { parseAddress } from '#service/decode/address.ts';
import type { Detected } from '#service/interfaces/detector.ts';
import type { SimulatedSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import type { DescribedAccount } from '#service/v3/annotations/token-info-cache.ts';
import type { AccountCode } from '#service/v3/views/account-interfaces.ts';
import { viewAccountKey, viewBytes } from '#service/v3/request/scalars.ts';
import { describeToken, describeWallet, type DescribedToken } from '#service/v3/views/token-info.ts';

/** Nothing is fetched from outside of the chain. */
const notFetched = { metadata: null } as const;

/** A token by its own contract. Undefined for an account of another kind. */
export function describeDetected(detected: Detected): DescribedAccount | undefined {
  const { jettonMaster, nftCollection, nftItem, jettonWallet } = detected;
  const tokens: DescribedToken[] = [];
  if (jettonMaster !== undefined) {
    tokens.push(describeToken({ ...notFetched, content: jettonMaster.content, type: 'jetton_masters', index: null }));
  }
  if (nftCollection !== undefined) {
    tokens.push(describeToken({ ...notFetched, content: nftCollection.content, type: 'nft_collections', index: null }));
  }
  if (nftItem !== undefined) {
    const { content, index } = nftItem;
    tokens.push(describeToken({ ...notFetched, content, type: 'nft_items', index }));
  }
  const infos: object[] = tokens.map(({ info }) => info);
  if (jettonWallet !== undefined) {
    const parties = { owner: viewAccountKey(jettonWallet.owner), jetton: viewAccountKey(jettonWallet.jetton) };
    infos.push(describeWallet(parties, jettonWallet.balance));
  }
  if (infos.length === 0) return undefined;
  return {
    isIndexed: tokens.every(({ isIndexed }) => isIndexed),
    infos: infos.map((info) => JSON.stringify(info)).join(','),
  };
}

/** Codes of accounts as a simulation leaves them, by raw address. Rejects as `SimulatedSnapshot.readAccount` does, and when the pacer ends. */
export async function readCodes(
  snapshot: Pick<SimulatedSnapshot, 'readAccount'>,
  accounts: readonly string[],
  pacer: TimeSlice,
): Promise<ReadonlyMap<string, AccountCode>> {
  const codes = new Map<string, AccountCode>();
  for (const raw of accounts) {
    const address = parseAddress(raw);
    if (address === undefined) continue;
    await pacer.pause();
    const { code } = await snapshot.readAccount({ workchain: address.workchain, id: address.id });
    codes.set(raw, codeOf(code));
  }
  return codes;
}

function codeOf(code: Buffer | null): AccountCode {
  if (code === null) return { codeHash: null, methods: null };
  const table = parseBoc(code);
  const root = table.roots[0]!;
  return { codeHash: viewBytes(table.hash(root)), methods: methodIds(table, root) };
}
