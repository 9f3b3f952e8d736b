import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';
import type { ForwardLink, PartialBlockProof } from '#service/proof/answers.ts';
import type { ProofErrorCode } from '#service/proof/errors.ts';
import type { SignatureSet, SimplexSignatureSet } from '#service/proof/signatures.ts';
import { checkBlockProof } from '#service/proof/block-proof.ts';
import { getBlockProof } from '#service/liteserver/functions.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { zeroStateBlock } from '#service/proof/trusted-blocks.ts';
import { recordings } from './recorded.ts';
import type { SyntheticChain } from './synthetic-chain.ts';
import { candidateOf, createSyntheticChain, forwardLink, resign, signerOf } from './synthetic-chain.ts';

const signatures = createSignatureChecker({}, { register: new Registry(), logger: pino({ level: 'silent' }) });
afterAll(() => signatures.close());

/** Seven validators, five of them for the masterchain. The weights make two thirds an exact number. */
const chain = createSyntheticChain(
  { weights: [10n, 20n, 30n, 40n, 20n, 99n, 1n], main: 5, shuffle: true },
  { first: 100, last: 140, keyEvery: 10 },
);

function prove(link: ForwardLink): ReturnType<typeof checkBlockProof> {
  return proveSteps({ complete: true, from: link.from, to: link.to, steps: [link] });
}

function proveSteps(answer: PartialBlockProof, target = answer.to): ReturnType<typeof checkBlockProof> {
  const zeroState = { ...answer.from, seqno: 0 };
  return checkBlockProof({ known: answer.from, target, zeroState }, answer, signatures);
}

/** Returns a link whose signature set is of the simplex kind. */
function simplexLink(to: number): ForwardLink & { readonly signatures: SimplexSignatureSet } {
  const block = chain.block(to);
  return forwardLink(chain.block(100), block, chain.session(block.catchainSeqno), 'simplex') as ReturnType<
    typeof simplexLink
  >;
}

function withSet(link: ForwardLink, set: Partial<SignatureSet>): ForwardLink {
  return { ...link, signatures: { ...link.signatures, ...set } as SignatureSet };
}

/** Returns a link signed only by the session's validators with these weights. */
function signedBy(link: ForwardLink, of: SyntheticChain, weights: readonly bigint[]): ForwardLink {
  const session = of.session(link.signatures.catchainSeqno);
  const kept = link.signatures.signatures.filter((_, index) => weights.includes(session[index]!.weight));
  return withSet(link, { signatures: kept });
}

describe('A forward link', () => {
  it.each(['ordinary', 'simplex'] as const)(
    'a forward link with %s signatures of the shuffled validators is accepted',
    async (kind) => {
      for (let to = 101; to <= 110; to++) {
        const block = chain.block(to);
        const link = forwardLink(chain.block(100), block, chain.session(block.catchainSeqno), kind);
        const proved = await prove(link);
        expect(proved).toEqual({ reached: block.id, keyBlocks: to === 110 ? [block.id] : [] });
      }
    },
  );

  it('a forward link with an empty candidate that names the block is accepted', async () => {
    const link = simplexLink(104);
    const set = { ...link.signatures, candidate: candidateOf(link.to, 'empty') };
    const session = chain.session(link.signatures.catchainSeqno);
    await expect(prove(withSet(link, resign(link.to, set, session)))).resolves.toMatchObject({ reached: link.to });
  });

  it('a forward link needs more than two thirds of the weight', async () => {
    const even = createSyntheticChain({ weights: [10n, 20n, 30n, 60n] }, { first: 1, last: 2, keyEvery: 5 });
    const link = even.linkTo(1, 2);
    await expect(prove(signedBy(link, even, [20n, 60n]))).rejects.toMatchObject({ code: 'not_enough_weight' });
    await expect(prove(signedBy(link, even, [10n, 20n, 60n]))).resolves.toMatchObject({ reached: link.to });
  });

  const forgeries: readonly (readonly [string, ProofErrorCode, () => ForwardLink])[] = [
    [
      'a signer twice',
      'duplicate_signer',
      () => {
        const link = chain.linkTo(100, 105);
        const [first, ...rest] = link.signatures.signatures;
        return withSet(link, { signatures: [first!, first!, ...rest] });
      },
    ],
    [
      'a signer who is no validator',
      'unknown_signer',
      () => {
        const link = chain.linkTo(100, 105);
        const stranger = resign(link.to, link.signatures, [signerOf(77, 1000n)]);
        return withSet(link, { signatures: [...link.signatures.signatures, ...stranger.signatures] });
      },
    ],
    [
      'a validator beyond the main ones',
      'unknown_signer',
      () => {
        const link = chain.linkTo(100, 105);
        const sixth = resign(link.to, link.signatures, [chain.signers[5]!]);
        return withSet(link, { signatures: [...link.signatures.signatures, ...sixth.signatures] });
      },
    ],
    [
      'a signature of another block',
      'bad_signature',
      () => {
        const link = chain.linkTo(100, 105);
        return withSet(link, { signatures: chain.linkTo(100, 104).signatures.signatures });
      },
    ],
    [
      'a signature of 63 bytes',
      'bad_signature_set',
      () => {
        const link = chain.linkTo(100, 105);
        const cut = link.signatures.signatures.map((one) => ({ ...one, signature: one.signature.subarray(1) }));
        return withSet(link, { signatures: cut });
      },
    ],
    ['no signatures', 'not_enough_weight', () => withSet(chain.linkTo(100, 105), { signatures: [] })],
    ['another catchain seqno', 'bad_signature_set', () => withSet(chain.linkTo(100, 105), { catchainSeqno: 36 })],
    ['another validator set hash', 'bad_signature_set', () => withSet(chain.linkTo(100, 105), { validatorSetHash: 5 })],
    ['a simplex slot that was not signed', 'bad_signature', () => withSet(simplexLink(105), { slot: 106 })],
    [
      'a simplex session that was not signed',
      'bad_signature',
      () => withSet(simplexLink(105), { sessionId: Buffer.alloc(32) }),
    ],
    [
      'a candidate of another block',
      'bad_signature_set',
      () => {
        const link = simplexLink(105);
        const candidate = candidateOf(chain.block(104).id, 'ordinary');
        const session = chain.session(link.signatures.catchainSeqno);
        const signed = resign(chain.block(104).id, { ...link.signatures, candidate }, session);
        return withSet(link, signed);
      },
    ],
    [
      'a candidate of an unknown form',
      'bad_signature_set',
      () => {
        const link = simplexLink(105);
        const candidate = Buffer.concat([Buffer.alloc(4), link.signatures.candidate.subarray(4)]);
        return withSet(link, { candidate });
      },
    ],
    [
      'a candidate cut short',
      'bad_signature_set',
      () => withSet(simplexLink(105), { candidate: simplexLink(105).signatures.candidate.subarray(0, 83) }),
    ],
    ['the key flag of another block', 'wrong_field', () => ({ ...chain.linkTo(100, 105), toKeyBlock: true })],
    ['a start that is no key block', 'wrong_field', () => chain.linkTo(103, 105)],
    ['a key block left out', 'wrong_field', () => chain.linkTo(100, 115)],
    [
      'the header of another block',
      'hash_mismatch',
      () => ({ ...chain.linkTo(100, 105), destProof: chain.linkTo(100, 104).destProof }),
    ],
    [
      'the configuration of another block',
      'hash_mismatch',
      () => ({ ...chain.linkTo(100, 105), configProof: chain.linkTo(110, 115).configProof }),
    ],
    [
      'a seqno that the header does not have',
      'wrong_field',
      () => {
        const link = chain.linkTo(100, 105);
        return { ...link, to: { ...link.to, seqno: 106 } };
      },
    ],
    [
      'another workchain',
      'wrong_field',
      () => {
        const link = chain.linkTo(100, 105);
        return { ...link, to: { ...link.to, workchain: 0 } };
      },
    ],
    [
      'a way down',
      'chain_gap',
      () => {
        const link = chain.linkTo(100, 105);
        return { ...link, to: { ...link.to, seqno: 99 } };
      },
    ],
  ];

  it.each(forgeries)('a forward link with %s is refused: %s', async (_, code, forge) => {
    await expect(prove(forge())).rejects.toMatchObject({ name: 'ProofError', code });
  });

  it('a forward link to a block of other validators is refused, whoever signed it', async () => {
    const other = createSyntheticChain({ weights: [1n, 1n] }, { first: 100, last: 140, keyEvery: 10 });
    const to = other.block(105);
    for (const session of [other.session(to.catchainSeqno), chain.session(to.catchainSeqno)]) {
      const link = forwardLink(chain.block(100), to, session, 'ordinary');
      await expect(prove(link)).rejects.toMatchObject({ name: 'ProofError', code: 'bad_validator_set' });
    }
  });

  it('a forward link from a configuration whose total weight is not the sum is refused', async () => {
    const shape = { weights: [10n, 20n], totalWeight: 31n };
    const link = createSyntheticChain(shape, { first: 1, last: 2, keyEvery: 5 }).linkTo(1, 2);
    await expect(prove(link)).rejects.toMatchObject({ name: 'ProofError', code: 'malformed' });
  });
});

describe('A chain of links', () => {
  const links = [chain.linkTo(100, 110), chain.linkTo(110, 120), chain.linkTo(120, 125)];
  const [first, second, third] = links as [ForwardLink, ForwardLink, ForwardLink];
  const target = third.to;

  it('a chain of links leads over key blocks to its target', async () => {
    const proved = await proveSteps({ complete: true, from: first.from, to: target, steps: links });
    expect(proved).toEqual({ reached: target, keyBlocks: [first.to, second.to] });
  });

  it('a chain of links may end before its target when it comes closer', async () => {
    const proved = await proveSteps(
      { complete: false, from: first.from, to: second.to, steps: [first, second] },
      target,
    );
    expect(proved).toEqual({ reached: second.to, keyBlocks: [first.to, second.to] });
  });

  it('a chain without links reaches the known block itself', async () => {
    const { from } = first;
    expect(await proveSteps({ complete: true, from, to: from, steps: [] })).toEqual({ reached: from, keyBlocks: [] });
  });

  const broken: readonly (readonly [string, ProofErrorCode, PartialBlockProof])[] = [
    ['with a gap', 'chain_gap', { complete: true, from: first.from, to: target, steps: [first, third] }],
    [
      'that ends elsewhere than it says',
      'chain_gap',
      { complete: true, from: first.from, to: target, steps: [first, second] },
    ],
    [
      'that calls itself complete before the target',
      'no_progress',
      { complete: true, from: first.from, to: second.to, steps: [first, second] },
    ],
    ['that starts elsewhere', 'chain_gap', { complete: true, from: second.from, to: target, steps: [second, third] }],
    ['without links', 'no_progress', { complete: false, from: first.from, to: first.from, steps: [] }],
    [
      'with too many links',
      'malformed',
      { complete: true, from: first.from, to: target, steps: Array.from({ length: 33 }, () => first) },
    ],
  ];

  it.each(broken)('a chain of links %s is refused: %s', async (_, code, answer) => {
    const expected = { known: first.from, target, zeroState: { ...first.from, seqno: 0 } };
    await expect(checkBlockProof(expected, answer, signatures)).rejects.toMatchObject({ name: 'ProofError', code });
  });
});

describe.each(recordings())('A recorded link to the zero state: $folder', ({ exchanges, ...recording }) => {
  const zeroState = zeroStateBlock(recording.zeroState);
  const { answer } = exchanges(getBlockProof).find((one) => one.answer.to.seqno === 0)!;
  const ends = { known: answer.from, target: answer.to };

  it('a link to the zero state leads to that of the network alone', async () => {
    const proved = await checkBlockProof({ ...ends, zeroState }, answer, signatures);
    expect(proved).toMatchObject({ reached: zeroState });
    const other = { ...zeroState, rootHash: Buffer.alloc(32, 7) };
    await expect(checkBlockProof({ ...ends, zeroState: other }, answer, signatures)).rejects.toMatchObject({
      name: 'ProofError',
      code: 'wrong_zerostate',
    });
  });
});
