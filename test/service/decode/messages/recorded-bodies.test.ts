import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { decodeBody } from '#service/decode/messages/messages.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { openBody } from '#service/decode/tlb/message.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { createRandom } from '../random.ts';
import { recordedBlockFiles, tapeBlocks } from '../recorded.ts';

type TraceFile = {
  readonly format: string;
  readonly transactions: readonly {
    readonly messages: readonly { readonly message_content: { body: string } | null }[];
  }[];
  readonly expected: { readonly api_actions: readonly { readonly type: string; readonly details: unknown }[] };
};

const traces = fixtureFiles(/\.json$/)
  .map((file) => ({ name: basename(file), trace: JSON.parse(readFileSync(file, 'utf8')) as TraceFile }))
  .filter(({ trace }) => trace.format === 'v3-trace-fixture/1');

function bodiesOf(trace: TraceFile): Buffer[] {
  const texts = trace.transactions.flatMap((transaction) =>
    transaction.messages.map((message) => message.message_content?.body),
  );
  return [...new Set(texts)].filter((text) => text !== undefined).map((text) => Buffer.from(text, 'base64'));
}

function decode(bytes: Buffer): ReturnType<typeof decodeBody> {
  const boc = parseBoc(bytes);
  return decodeBody(new CellSlice(boc, boc.roots[0]!));
}

/** Returns every value of a name anywhere in an object. */
function valuesOf(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [...(key === name ? [inner] : []), ...valuesOf(inner, name)]);
}

type Slice = ReturnType<Cell['beginParse']>;

function addressOf(slice: Slice): object {
  const address = slice.loadMaybeAddress();
  if (address === null) return { '@type': 'addr_none' };
  return {
    '@type': 'addr_std',
    workchain_id: String(address.workChain),
    address: address.hash.toString('hex').toUpperCase(),
  };
}

const amountOf = (slice: Slice): object => ({ '@type': 'var_uint', value: slice.loadCoins().toString() });

/** First fields of common bodies, read by `@ton/core`. */
const peers: Record<number, (slice: Slice) => object> = {
  0x0f8a7ea5: (slice) => ({
    '@type': 'jetton_transfer',
    query_id: slice.loadUintBig(64).toString(),
    amount: amountOf(slice),
    destination: addressOf(slice),
    response_destination: addressOf(slice),
  }),
  0x178d4519: (slice) => ({
    '@type': 'jetton_internal_transfer',
    query_id: slice.loadUintBig(64).toString(),
    amount: amountOf(slice),
    from: addressOf(slice),
    response_address: addressOf(slice),
    forward_ton_amount: amountOf(slice),
  }),
  0x7362d09c: (slice) => ({
    '@type': 'jetton_notify',
    query_id: slice.loadUintBig(64).toString(),
    amount: amountOf(slice),
    sender: addressOf(slice),
  }),
  0x5fcc3d14: (slice) => ({
    '@type': 'nft_transfer',
    query_id: slice.loadUintBig(64).toString(),
    new_owner: addressOf(slice),
    response_destination: addressOf(slice),
  }),
  0xd53276db: (slice) => ({ '@type': 'excess', query_id: slice.loadUintBig(64).toString() }),
};

/** Returns false for bytes that are no BoC; any other error is thrown. */
function isReadable(bytes: Buffer): boolean {
  try {
    return JSON.stringify(decode(bytes) ?? null) !== '';
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

function readByPeer(bytes: Buffer): object | undefined {
  const slice = Cell.fromBoc(bytes)[0]!.beginParse();
  return slice.remainingBits < 32 ? undefined : peers[slice.loadUint(32)]?.(slice);
}

describe.skipIf(
  skipLoudly(traces.length === 0, { what: 'bodies of recorded traces', why: 'the fixtures hold no traces' }),
)('bodies of recorded traces', () => {
  it.each(traces)('the bodies of $name are decoded, and common ones as @ton/core reads them', ({ trace }) => {
    const read = bodiesOf(trace).flatMap((bytes) => {
      const peer = readByPeer(bytes);
      return peer === undefined ? [] : [{ shown: decode(bytes), peer }];
    });
    for (const { shown, peer } of read) expect(shown).toMatchObject(peer);
    expect(() => JSON.stringify(bodiesOf(trace).map(decode))).not.toThrow();
  });

  it('the bodies have every comment in the actions of their traces', () => {
    let seen = 0;
    for (const { name, trace } of traces) {
      const comments = bodiesOf(trace).flatMap((bytes) => valuesOf(decode(bytes), 'text'));
      const told = trace.expected.api_actions.flatMap(({ details }) => valuesOf(details, 'comment'));
      for (const comment of told.filter((text) => typeof text === 'string')) {
        expect({ name, comments }).toEqual({ name, comments: expect.arrayContaining([comment]) });
        seen++;
      }
    }
    expect(seen).toBeGreaterThan(0);
  });

  it('most bodies have a known name', () => {
    const bodies = traces.flatMap(({ trace }) => bodiesOf(trace));
    const known = bodies.filter((bytes) => decode(bytes) !== undefined);
    expect(known.length).toBeGreaterThan(bodies.length * 0.8);
  });

  it('a body changed anywhere never breaks the decoder', () => {
    const random = createRandom(7);
    const bodies = traces.flatMap(({ trace }) => bodiesOf(trace));
    let read = 0;
    for (let round = 0; round < 20_000; round++) {
      const bytes = Buffer.from(bodies[random(bodies.length)]!);
      for (let left = 1 + random(3); left > 0; left--) bytes[11 + random(bytes.length - 11)]! ^= 1 << random(8);
      // A checksum would hide the other changes.
      bytes[4]! &= ~0x40;
      const bag = bytes.subarray(0, bytes.length - 4);
      if (isReadable(bag)) read++;
    }
    expect(read).toBeGreaterThan(1000);
  });
});

describe('bodies of recorded blocks', () => {
  it('the bodies of recorded blocks are decoded, whatever they are', ({ skip }) => {
    let messages = 0;
    const names = new Map<string, number>();
    const blocks = [...recordedBlockFiles(), ...tapeBlocks()];
    skip(skipLoudly(blocks.length === 0, { what: 'bodies of recorded blocks', why: 'no block is among the fixtures' }));
    for (const { bytes } of blocks) {
      const boc = parseBoc(bytes);
      for (const { inMessage, outMessages } of readBlockTransactions(boc, boc.roots[0]!)) {
        for (const message of [...(inMessage === undefined ? [] : [inMessage]), ...outMessages]) {
          const body = openBody(boc, message.body);
          const shown = decodeBody(body);
          messages++;
          if (shown === undefined) continue;
          names.set(shown['@type'], (names.get(shown['@type']) ?? 0) + 1);
        }
      }
    }
    expect(messages).toBeGreaterThan(0);
    expect(names.get('text_comment') ?? 0).toBeGreaterThan(0);
  });
});
