import type { Logger } from 'pino';

import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import type { CellAt } from '#service/decode/tlb/message-cells.ts';
import { listLibraryHashes } from '#service/tvm/libraries.ts';
import type { Chain, ChainBlock } from '../chain/chain.ts';
import { hasLibrary } from '../collator/public-libraries.ts';
import { forkUnreachable } from '../chain/errors.ts';
import type { ForkSource } from './fork.ts';
import { openState } from '../chain/open-as-node.ts';

/** Public libraries of a forked network, brought over with the first account or message that names them. */
export type ForkedLibraries = {
  /**
   * Reads the libraries that a bag's library cells name, and the libraries that they name in turn. Already read libraries are skipped.
   * Resolves when all existing libraries are in a block or in `waiting`.
   * @throws DevchainError `fork_unreachable`; then no library was added
   */
  fetch(bag: Boc): Promise<void>;
  /** Libraries that no block has yet. */
  waiting(): readonly CellAt[];
  /** A block has these. */
  settle(libraries: readonly CellAt[]): void;
};

/** Libraries that one account or message may add, including indirect ones. Contracts have one or two. */
const PER_BAG_MAX = 64;

/** Steps from an account over libraries that name others. Libraries behind more steps are not searched. */
const STEPS_MAX = 4;

/** Bytes of all public libraries. Each transaction passes all of them to the emulator, which takes some 15 ms at this size. */
const BYTES_MAX = 1_048_576;

/** Cached hashes without a library, some 150 bytes each. Further hashes are requested each time. */
const ABSENT_MAX = 100_000;

export type ForkedLibrariesDependencies = {
  readonly chain: Chain;
  readonly head: () => ChainBlock;
  /** Hashes that have no library in the other network. */
  readonly absent: readonly Buffer[];
  /** Records that the other network has no such library. */
  readonly keepAbsent: (hash: Buffer) => void;
  readonly logger: Logger;
};

/** A library that was read, by its hash in hex. */
type Read = { readonly hash: string; readonly boc: Boc; readonly bytes: number };

export function createForkedLibraries(
  source: Pick<ForkSource, 'readLibrary'>,
  { chain, head, logger, ...known }: ForkedLibrariesDependencies,
): ForkedLibraries {
  const absent = new Set(known.absent.map((hash) => hash.toString('hex')));
  const waiting = new Map<string, CellAt>();
  const reading = new Map<string, Promise<Read | undefined>>();
  /** Bytes of all public libraries here, computed when the first is added. */
  let bytes: number | undefined;

  async function readOne(hash: string): Promise<Read | undefined> {
    const key = Buffer.from(hash, 'hex');
    const bag = await source.readLibrary(key).catch((error: unknown) => {
      throw forkUnreachable(`library ${hash}`, error);
    });
    if (bag !== undefined) return { hash, boc: parseBoc(bag), bytes: bag.length };
    if (!absent.has(hash) && absent.size < ABSENT_MAX) {
      absent.add(hash);
      known.keepAbsent(key);
    }
    return undefined;
  }

  function read(hash: string): Promise<Read | undefined> {
    const running = reading.get(hash) ?? readOne(hash).finally(() => reading.delete(hash));
    reading.set(hash, running);
    return running;
  }

  function isKnown(hash: string): boolean {
    if (absent.has(hash) || waiting.has(hash)) return true;
    return hasLibrary(chain.states, openState(chain.states, head().state).libraries, Buffer.from(hash, 'hex'));
  }

  function add({ hash, boc, bytes: size }: Read): void {
    if (isKnown(hash)) return;
    bytes ??= bytesOf(chain, head());
    if (bytes + size > BYTES_MAX) {
      logger.warn(
        { library: hash, bytes: size, bytesMax: BYTES_MAX },
        'the fork has all the libraries that it can: this one is missing',
      );
      return;
    }
    bytes += size;
    waiting.set(hash, { table: boc, cell: boc.roots[0]! });
  }

  return {
    async fetch(bag) {
      const found = new Map<string, Read | undefined>();
      let named: string[] = listLibraryHashes(bag, PER_BAG_MAX);
      for (let step = 0; step < STEPS_MAX && named.length > 0; step++) {
        const wanted = [...new Set(named)].filter((hash) => !found.has(hash) && !isKnown(hash));
        const answers = await Promise.all(wanted.slice(0, PER_BAG_MAX - found.size).map(read));
        answers.forEach((one, index) => found.set(wanted[index]!, one));
        named = answers.flatMap((one) => (one === undefined ? [] : listLibraryHashes(one.boc, PER_BAG_MAX)));
      }
      // All at once, because a library in a block implies that the libraries it names were searched.
      for (const one of found.values()) if (one !== undefined) add(one);
    },
    waiting: () => [...waiting.values()],
    settle(libraries) {
      const settled = new Set(libraries);
      for (const [hash, library] of waiting) if (settled.has(library)) waiting.delete(hash);
    },
  };
}

function bytesOf({ states }: Chain, { state }: ChainBlock): number {
  const { libraries } = openState(states, state);
  return libraries === undefined ? 0 : writeBoc(states, [libraries]).length;
}
