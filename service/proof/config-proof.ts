import type { BlockId } from '../decode/block-id.ts';
import type { CellTable } from '../decode/cell-table.ts';
import type { ConfigParams } from '../decode/tlb/config-params.ts';
import { blockText, FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';
import { readBlock } from '../decode/tlb/block.ts';
import { readBlockExtra } from '../decode/tlb/block-extra.ts';
import { findConfigParam } from '../decode/tlb/config-params.ts';
import { readMasterchainBlockExtra } from '../decode/tlb/masterchain-block-extra.ts';
import type { ConfigInfoAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { readHeader, requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openProof, proving, requireField, requireHash } from './proof-cells.ts';
import { readSplitStateProof, readStateExtra } from './state-proof.ts';

/** Configuration as far as its proof shows it. */
export type ProvedConfig = { readonly table: CellTable; readonly config: ConfigParams };

/**
 * Configuration and its masterchain block. With bit 0x8000 the block is a key block, which the caller must find among the trusted blocks. The proof
 * shows no file hash, so none is returned.
 */
export type ProvedConfigOfBlock = ProvedConfig & { readonly block: Pick<BlockId, 'seqno' | 'rootHash'> };

const SUBJECT = 'configInfo';

/** Bit of `getConfigAll` and `getConfigParams`: the configuration in the key block itself, not in a state. */
export const CONFIG_FROM_KEY_BLOCK = 0x8000;

export type ConfigExpectation = {
  /** A masterchain block. */
  readonly block: BlockId;
  /** Mode of the request. With bit 0x8000 the answer is about the last key block at or before `block`. */
  readonly mode: number;
  /** Parameters (signed 32 bits) that must be proved whole, or proved absent. If not given, the whole configuration must be proved. */
  readonly params?: readonly number[];
};

/**
 * Checks an answer of `getConfigAll` or `getConfigParams` (service/proof/README.md#configuration).
 * @throws ProofError
 */
export function checkConfig(expected: ConfigExpectation, answer: ConfigInfoAnswer): ProvedConfigOfBlock {
  return proving(SUBJECT, () => {
    const fromKeyBlock = (expected.mode & CONFIG_FROM_KEY_BLOCK) !== 0;
    const proved = fromKeyBlock ? readConfigOfKeyBlock(expected, answer) : readConfigOfState(expected, answer);
    requireShown(proved, expected.params);
    return { ...proved, block: { seqno: answer.id.seqno, rootHash: answer.id.rootHash } };
  });
}

/** Requires that nothing of the requested parameters, or of the whole configuration, is pruned. A cell of level mask 0 is whole. */
function requireShown({ table, config }: ProvedConfig, params: readonly number[] | undefined): void {
  const asked = params?.map((param) => findConfigParam(table, config.root, param)) ?? [config.root];
  const isShown = asked.every((cell) => cell === undefined || table.levelMask(cell) === 0);
  if (!isShown) throw new ProofError('incomplete_proof', { subject: SUBJECT, expected: 'whole parameters' });
}

function readConfigOfState(
  { block }: ConfigExpectation,
  { id, stateProof, configProof }: ConfigInfoAnswer,
): ProvedConfig {
  requireBlock(SUBJECT, block, id);
  const { cell } = readSplitStateProof(SUBJECT, stateProof, configProof, block);
  return { table: cell.table, config: readStateExtra(SUBJECT, cell).config };
}

/**
 * Reads the configuration in a key block. The proof shows that the block is a key block. It does not show that the block is the last one before the
 * requested block.
 */
function readConfigOfKeyBlock({ block }: ConfigExpectation, answer: ConfigInfoAnswer): ProvedConfig {
  const { id, stateProof, configProof } = answer;
  requireField(`${SUBJECT}.stateProof bytes`, 0, stateProof.length);
  if (id.seqno === block.seqno) requireBlock(SUBJECT, block, id);
  if (id.workchain !== MASTERCHAIN || id.shard !== FULL_SHARD || id.seqno > block.seqno) {
    const found = blockText(id);
    throw new ProofError('wrong_id', { subject: SUBJECT, expected: `a key block up to ${blockText(block)}`, found });
  }
  return readKeyBlockConfig(openProof(`${SUBJECT}.configProof`, configProof), id);
}

/** Reads the configuration in a key block. @throws ProofError `wrong_field` when it is no key block */
export function readKeyBlockConfig(block: ProvedCell, id: BlockId): ProvedConfig {
  const subject = 'keyBlock';
  const { info } = readHeader(subject, block, id);
  requireField(`${subject} keyBlock`, true, info.keyBlock);
  const { custom } = readBlockExtra(block.table, readBlock(block.table, block.cell).extra);
  if (custom === undefined) throw new ProofError('malformed', { subject, expected: 'a masterchain block' });
  const { config } = readMasterchainBlockExtra(block.table, custom);
  if (config === undefined) throw new ProofError('wrong_field', { subject, expected: 'a configuration' });
  return { table: block.table, config };
}

/** Reads the configuration in a masterchain state with a known hash: the zero state's. */
export function readStateConfig(state: ProvedCell, stateHash: Buffer): ProvedConfig {
  requireHash('zerostate', state, stateHash);
  return { table: state.table, config: readStateExtra('zerostate', state).config };
}
