import { writeBoc } from '#service/decode/boc-writer.ts';
import { findConfigParam } from '#service/decode/tlb/config-params.ts';
import { getConfigParams, getLibrariesWithProof } from '#service/liteserver/functions.ts';
import { createBoundedCache } from '#service/runtime/bounded-cache.ts';
import type { Pool } from '#service/pool/pool.ts';
import { checkConfig } from '#service/proof/config-proof.ts';
import { checkLibrariesWithProof } from '#service/proof/library-proof.ts';
import { proving } from '#service/proof/proof-cells.ts';
import { joinAnswers } from '#service/contract/answer.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import { createChainConfigs } from './chain-config.ts';
import type { LiveConfiguration, LiveLibrary } from './configuration.ts';
import { LiveError } from '../errors.ts';
import { pinBlock } from '../pinned-block.ts';
import type { PinnedBlock } from '../pinned-block.ts';

/** Cache of parameters: the main network's whole configuration has some 60 KB. */
const PARAMS_BYTES_MAX = 4 * 2 ** 20;

/** Weight of a cached parameter besides its BoC. */
const PARAM_BYTES = 256;

/** Maximum libraries in one query (service/liteserver/README.md#functions). */
const LIBRARIES_MAX = 16;

/** Configuration over the pool: one upstream query for each key block, since only key blocks change it. */
export function createLiveConfiguration({ pool }: { pool: Pool }): LiveConfiguration {
  const configs = createChainConfigs({ pool });
  const params = createBoundedCache({ bytesMax: PARAMS_BYTES_MAX });

  async function readPinned(
    param: number,
    { block, keyBlockSeqno }: PinnedBlock,
    context: ReadContext,
  ): Promise<LiveAnswer<Buffer | null>> {
    const key = `${keyBlockSeqno} ${param}`;
    const cached = params.get(key) as Buffer | null | undefined;
    if (cached !== undefined) return { value: cached, liteServers: [], cached: true };
    const args = { mode: 0, id: block, paramList: [param] };
    const answer = await pool.query(getConfigParams, args, context, {
      shareAs: 'config parameter',
      check: (result) =>
        proving('configInfo', () => {
          const { table, config } = checkConfig({ block, mode: 0, params: [param] }, result);
          const cell = findConfigParam(table, config.root, param);
          return cell === undefined ? null : writeBoc(table, [cell], { crc32c: true });
        }),
    });
    params.set(key, answer.value, PARAM_BYTES + (answer.value?.length ?? 0));
    return answer;
  }

  return {
    async readParam(param, seqno, context) {
      const pinned = await pinBlock(pool, seqno, context);
      const answer = await readPinned(param, pinned.value, context);
      return joinAnswers(answer.value, [pinned, answer]);
    },

    async readAll(seqno, context) {
      const pinned = await pinBlock(pool, seqno, context);
      const answer = await configs.configAt(pinned.value, context);
      return joinAnswers(answer.value.boc, [pinned, answer]);
    },

    async readLibraries(hashes, context) {
      if (hashes.length > LIBRARIES_MAX) throw tooMany(hashes.length);
      if (hashes.length === 0) return { value: [], liteServers: [], cached: false };
      const { block } = await pool.headFor(context);
      const libraryList = sortedOnce(hashes);
      return pool.query(getLibrariesWithProof, { id: block, mode: 0, libraryList }, context, {
        shareAs: 'libraries',
        immutable: true,
        check: (answer) =>
          checkLibrariesWithProof({ block, mode: 0, hashes: libraryList }, answer).flatMap(viewLibrary),
      });
    },
  };
}

/** Serializes the library again, because the lite server's bag may contain more than the library. */
function viewLibrary({ hash, root }: ReturnType<typeof checkLibrariesWithProof>[number]): LiveLibrary[] {
  return root === undefined ? [] : [{ hash, data: writeBoc(root.table, [root.cell]) }];
}

function sortedOnce(hashes: readonly Buffer[]): Buffer[] {
  const sorted = hashes.toSorted((a, b) => Buffer.compare(a, b));
  return sorted.filter((hash, index) => index === 0 || !hash.equals(sorted[index - 1]!));
}

/** Refuses in the words of tonlib, before any query (service/v2/README.md#configuration). */
function tooMany(found: number): LiveError {
  const text = `too many libraries requested, ${LIBRARIES_MAX} maximum`;
  const message = `INVALID_FIELD: Field library_list has invalid value : ${text}`;
  return new LiveError('too_many_libraries', message, { limit: LIBRARIES_MAX, found });
}
