import { createHash } from 'node:crypto';

import { createCellStore } from '#service/decode/cell-store.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import { methodIdOf } from '#service/tvm/method-id.ts';
import type { AccountId } from '../accounts/accounts.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { ChainSnapshot, ChainSnapshots } from '../contracts/chain-snapshot.ts';
import { completeDomain, decodeDomain, encodeDomain } from './dns-names.ts';
import { readDnsRecord, readDnsRecords, showRecord } from './dns-records.ts';
import type { DnsRecord } from './dns-records.ts';
import { LiveError } from '../errors.ts';
import { sliceEntry } from '#service/tvm/stack.ts';
import type { StackCell, StackEntry } from '#service/tvm/stack.ts';

/** Record of a name, under the part of the name that its resolver was asked for. */
export type DnsEntry = {
  readonly name: string;
  /** SHA-256 of the category's name, 32 bytes. */
  readonly category: Buffer;
  readonly record: DnsRecord;
};

export type DnsQuestion = {
  /** The contract to start at. */
  readonly resolver: AccountId;
  /** Labels with dots between them; the empty name is the resolver's own. It must pass `isAskable`. */
  readonly name: string;
  /** How many further resolvers may be asked. */
  readonly hops: number;
};

/**
 * Names, resolved by contracts that run here on proved states (TEP-81).
 * Errors: LiveError `not_a_resolver`, TvmError, PoolError, ProofError.
 */
export type LiveDns = {
  /**
   * All records of a name. If resolvers remain to be asked, the single record that names the next resolver.
   * None for an unregistered name: its resolver is missing, or throws.
   * @param seqno masterchain seqno to resolve at; the served head when absent
   */
  resolve(
    question: DnsQuestion,
    seqno: number | undefined,
    context: ReadContext,
  ): Promise<LiveAnswer<readonly DnsEntry[]>>;
};

const METHOD = methodIdOf('dnsresolve');

/** Category of the record that names the contract to ask on. */
const NEXT_RESOLVER = createHash('sha256').update('dns_next_resolver').digest();

export function createLiveDns(dependencies: { worlds: ChainSnapshots }): LiveDns {
  return {
    async resolve({ resolver, name, hops }, seqno, context) {
      const world = await dependencies.worlds.open(seqno, context);
      let [at, rest, left] = [resolver, completeDomain(name), hops];
      for (;;) {
        const step = await askResolver(world, at, rest);
        const [next] = step.entries;
        const isLast = !step.partial || left <= 0 || next?.record.kind !== 'nextResolver';
        if (isLast) return world.answer(step.entries);
        // The resolved part is the end of the name. Each step leaves a shorter name.
        if (!rest.endsWith(next.name)) throw notAResolver();
        [at, rest, left] = [next.record.resolver, rest.slice(0, rest.length - next.name.length), left - 1];
      }
    },
  };
}

/** Answer of a resolver; `partial` when it resolves only the end of the name. */
export type Step = { readonly entries: readonly DnsEntry[]; readonly partial: boolean };

const NOTHING: Step = { entries: [], partial: false };

/** Asks one resolver. Rejects with LiveError `not_a_resolver` for an answer of another form, and as `LiveDns`. */
export async function askResolver(
  world: Pick<ChainSnapshot, 'runMethod'>,
  account: AccountId,
  name: string,
): Promise<Step> {
  const encoded = encodeDomain(name);
  const stack: StackEntry[] = [sliceEntry(bytesCell(encoded)), { type: 'int', value: 0n }];
  const run = await world.runMethod({ account, methodId: METHOD, stack });
  const [prefix, data] = run.stack.slice(-2);
  const succeeded = run.exitCode === 0 || run.exitCode === 1;
  // The name is unregistered if its contract is absent or throws.
  if (!succeeded) return NOTHING;
  if (data === undefined) throw notAResolver();
  if (data.type === 'null') return NOTHING;
  const bits = prefix?.type === 'int' ? Number(prefix.value) : -1;
  if (data.type !== 'cell' || bits < 0 || bits > encoded.length * 8 || bits % 8 !== 0) throw notAResolver();
  return readAnswer(name, encoded, bits / 8, data);
}

/** @param resolved bytes of the encoded name that the resolver has resolved */
function readAnswer(name: string, encoded: Buffer, resolved: number, data: StackCell): Step {
  if (resolved === 0) return NOTHING;
  const budget = new ReadBudget();
  try {
    if (resolved < encoded.length) {
      const record = showRecord({ cell: data, known: readDnsRecord(data, budget) }, budget);
      const entry = { name: decodeDomain(encoded.subarray(0, resolved)), category: NEXT_RESOLVER, record };
      return { entries: [entry], partial: true };
    }
    const records = readDnsRecords(data, budget);
    const entries = records.map((found) => {
      budget.write(ENTRY_BYTES + name.length);
      return { name, category: found.category, record: showRecord(found, budget) };
    });
    return { entries, partial: false };
  } catch (error) {
    if (error instanceof DecodeError) throw notAResolver(error);
    throw error;
  }
}

/** JSON of an entry besides its name, text and bag. */
const ENTRY_BYTES = 256;

function bytesCell(bytes: Buffer): StackCell {
  const table = createCellStore({ cellsMax: 1 });
  return { table, cell: table.add({ data: bytes, bitLength: bytes.length * 8, refs: [] }) };
}

/** Message of tonlib (service/v2/README.md#dns). */
function notAResolver(cause?: unknown): LiveError {
  return new LiveError('not_a_resolver', 'get method failed', {}, cause);
}
