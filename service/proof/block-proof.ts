import type { BlockId } from '../decode/block-id.ts';
import { blockText, FULL_SHARD, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import type { BackLink, BlockLink, ForwardLink, PartialBlockProof } from './answers.ts';
import { readKeyBlockConfig, readStateConfig } from './config-proof.ts';
import { ProofError } from './errors.ts';
import type { ProvedHeader } from './header-proof.ts';
import { readHeader, readStateHash } from './header-proof.ts';
import { requireListedBlock } from './state-proof.ts';
import { openProof, proving, requireField, requireHash } from './proof-cells.ts';
import type { SignatureChecker } from './signature-checker.ts';
import type { SignatureBatch } from './signatures.ts';
import { checkSignatureSet } from './signatures.ts';
import { readSessionValidators } from './session-validators.ts';

/** Request of a block proof: a trusted block, the block to prove, and the zero state as block 0. */
export type BlockProofExpectation = { readonly known: BlockId; readonly target: BlockId; readonly zeroState: BlockId };

/** Result of a block proof. */
export type ProvedBlocks = {
  /** Key blocks on the path, in order. */
  readonly keyBlocks: readonly BlockId[];
  /** Last block of the chain: the target, or the start of the next request. */
  readonly reached: BlockId;
};

/** Most links in one answer. The node gives 16; more would only occupy the signature thread. */
const LINKS_MAX = 32;

/**
 * Checks an answer of `getBlockProof` (service/proof/README.md#key-block-chain). Links lead without gaps from the trusted block to another block,
 * each proved from the previous one. A chain that does not reach the target must at least come closer.
 * @throws ProofError, ProofUnavailableError of the signature checker
 */
export async function checkBlockProof(
  expected: BlockProofExpectation,
  answer: PartialBlockProof,
  signatures: SignatureChecker,
): Promise<ProvedBlocks> {
  const { known, zeroState } = expected;
  requireSteps(expected, answer);
  const keyBlocks: BlockId[] = [];
  for (const link of answer.steps) {
    // The wait for the signatures also lets the event loop go on. Reading a link takes a millisecond or two.
    if (link.kind === 'back') checkBackLink(link, zeroState);
    else await signatures.check(checkForwardLink(link));
    if (link.toKeyBlock && link.to.seqno > 0) keyBlocks.push(link.to);
  }
  return { keyBlocks, reached: answer.steps.at(-1)?.to ?? known };
}

/** Checks the chain as a whole: ends, gaps, direction. */
function requireSteps(
  { known, target }: BlockProofExpectation,
  { complete, from, to, steps }: PartialBlockProof,
): void {
  const subject = 'blockProof.steps';
  const gap = (expected: BlockId, found: BlockId): ProofError =>
    new ProofError('chain_gap', { subject, expected: blockText(expected), found: blockText(found) });
  if (!sameBlock(from, known)) throw gap(known, from);
  if (steps.length > LINKS_MAX) {
    throw new ProofError('malformed', { subject, expected: `<= ${LINKS_MAX} links`, found: String(steps.length) });
  }
  let at = from;
  for (const step of steps) {
    if (!sameBlock(step.from, at)) throw gap(at, step.from);
    requireDirection(step);
    at = step.to;
  }
  if (!sameBlock(at, to)) throw gap(to, at);
  if (complete ? !sameBlock(to, target) : !comesCloser(known, target, to)) {
    throw new ProofError('no_progress', { subject, expected: blockText(target), found: blockText(to) });
  }
}

/**
 * Reports whether a chain comes closer. Upwards it ends above the known block, perhaps beyond the target. Downwards it never ends below the target.
 */
function comesCloser(known: BlockId, target: BlockId, reached: BlockId): boolean {
  if (target.seqno > known.seqno) return reached.seqno > known.seqno && !sameBlock(reached, target);
  return reached.seqno < known.seqno && reached.seqno > target.seqno;
}

function requireDirection({ kind, from, to }: BlockLink): void {
  const subject = 'blockProof.link';
  for (const { workchain, shard } of [from, to]) {
    requireField(`${subject} workchain`, MASTERCHAIN, workchain);
    requireField(`${subject} shard`, FULL_SHARD, shard);
  }
  if (kind === 'back' ? to.seqno >= from.seqno : to.seqno <= from.seqno) {
    throw new ProofError('chain_gap', { subject, expected: kind, found: `${blockText(from)} -> ${blockText(to)}` });
  }
}

/** Proves that `to` is in the list of blocks in the state of `from`. */
function checkBackLink(link: BackLink, zeroState: BlockId): void {
  const { from, to, toKeyBlock } = link;
  proving('blockProof.backLink', () => {
    const block = openProof('blockProof.backLink.proof', link.proof);
    readHeader('blockProof.backLink.proof', block, from);
    const state = openProof('blockProof.backLink.stateProof', link.stateProof);
    requireHash('blockProof.backLink.stateProof', state, readStateHash('blockProof.backLink.proof', block));
    requireListedBlock('blockProof.backLink.stateProof', state, to, toKeyBlock);
    if (to.seqno > 0) readDestination(link);
    else requireZeroState(link, zeroState);
  });
}

/** Proves a link to the zero state, which has no header. */
function requireZeroState({ to, destProof }: BackLink, zeroState: BlockId): void {
  const subject = 'blockProof.backLink';
  if (!sameBlock(to, zeroState)) {
    const expected = zeroState.rootHash.toString('hex');
    throw new ProofError('wrong_zerostate', { subject, expected, found: to.rootHash.toString('hex') });
  }
  requireField(`${subject}.destProof bytes`, 0, destProof.length);
}

/** Proves that the validators of key block `from` signed `to`, except the signatures themselves, which are returned. */
function checkForwardLink(link: ForwardLink): SignatureBatch {
  const { from, to } = link;
  return proving('blockProof.forwardLink', () => {
    const source = openProof('blockProof.forwardLink.configProof', link.configProof);
    const config = from.seqno === 0 ? readStateConfig(source, from.rootHash) : readKeyBlockConfig(source, from);
    const { info } = readDestination(link);
    requireField('blockProof.forwardLink.prevKeyBlockSeqno', from.seqno, info.prevKeyBlockSeqno);
    const validators = readSessionValidators(config, info.catchainSeqno);
    const session = { catchainSeqno: info.catchainSeqno, validatorSetHash: info.validatorListHashShort };
    return checkSignatureSet(to, link.signatures, validators, session);
  });
}

function readDestination({ to, toKeyBlock, destProof }: BlockLink): ProvedHeader {
  const subject = 'blockProof.destProof';
  const header = readHeader(subject, openProof(subject, destProof), to);
  requireField(`${subject} keyBlock`, toKeyBlock, header.info.keyBlock);
  return header;
}
