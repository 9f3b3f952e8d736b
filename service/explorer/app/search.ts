import { hashToHex } from './format.ts';

/** Forms that a searched text may have. A text may have more than one. */
export type SearchForm =
  | { readonly form: 'address'; readonly address: string }
  | { readonly form: 'hash'; readonly hash: string }
  | {
      readonly form: 'block';
      readonly workchain: number;
      readonly shard: string;
      readonly seqno: number;
      /** Hash that a full block id has; 64 hexadecimal digits. */
      readonly rootHash?: string;
    }
  | { readonly form: 'domain'; readonly domain: string };

const MASTERCHAIN_SHARD = '8000000000000000';

/** Longest domain (126 bytes of the DNS standard, TEP-81). */
const DOMAIN_MAX = 126;

const rawAddress = /^(-?\d{1,10}):([0-9a-f]{64})$/i;
const friendlyAddress = /^[A-Za-z0-9+/_-]{48}$/;
/** Also a full id: root hash and file hash behind it. */
const blockForm =
  /^\(?\s*(-?\d{1,10})\s*[,:]\s*(-?[0-9a-f]{1,20})\s*[,:]\s*(\d{1,10})\s*\)?(?::([0-9a-f]{64}):[0-9a-f]{64})?$/i;
const domainForm = /^[^\s/:?#@]+(\.[^\s/:?#@.]+)+\.?$/u;

/** Returns the forms of a text in the order of their likelihood; empty for a text of no known form. */
export function formsOf(given: string): SearchForm[] {
  const text = lastPart(given.trim());
  const forms: SearchForm[] = [];
  if (rawAddress.test(text) || friendlyAddress.test(text)) forms.push({ form: 'address', address: text });
  const hash = hashToHex(text);
  if (hash !== undefined) forms.push({ form: 'hash', hash });
  const block = blockOf(text);
  if (block !== undefined) forms.push(block);
  if (domainForm.test(text) && text.length <= DOMAIN_MAX) {
    forms.push({ form: 'domain', domain: text.toLowerCase().replace(/\.$/, '') });
  }
  return forms;
}

/** The last part of a pasted link: links of explorers and wallets end with what they name. */
function lastPart(text: string): string {
  if (!/^(https?|ton|tc):\/\//i.test(text)) return text;
  const [path = ''] = text.split(/[?#]/);
  const part = path.split('/').findLast((one) => one !== '') ?? text;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `(wc,shard,seqno)` with the shard in hexadecimal or as a signed number, or a seqno of the masterchain alone. */
function blockOf(text: string): SearchForm | undefined {
  if (/^\d{1,10}$/.test(text)) {
    return { form: 'block', workchain: -1, shard: MASTERCHAIN_SHARD, seqno: Number(text) };
  }
  const [, workchain, given, seqno, rootHash] = blockForm.exec(text) ?? [];
  const shard = given === undefined ? undefined : shardHex(given);
  if (workchain === undefined || shard === undefined) return undefined;
  const place = { form: 'block', workchain: Number(workchain), shard, seqno: Number(seqno) } as const;
  return rootHash === undefined ? place : { ...place, rootHash: rootHash.toLowerCase() };
}

/** 16 hexadecimal digits of a shard; undefined for a number beyond 64 bits. */
function shardHex(text: string): string | undefined {
  if (/^[0-9a-f]{16}$/i.test(text)) return text.toLowerCase();
  if (!/^-?\d{1,20}$/.test(text)) return undefined;
  const value = BigInt(text);
  if (value < -(2n ** 63n) || value >= 2n ** 64n) return undefined;
  return BigInt.asUintN(64, value).toString(16).padStart(16, '0');
}
