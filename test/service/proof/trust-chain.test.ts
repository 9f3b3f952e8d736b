import { pino } from 'pino';
import { Registry } from 'prom-client';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlockId } from '#service/decode/block-id.ts';
import type { BlockLink, PartialBlockProof } from '#service/proof/answers.ts';
import type { BlockProofRequest, ProofContext, TrustChain, TrustChainOptions } from '#service/proof/trust-chain.ts';
import { ProofError } from '#service/proof/errors.ts';
import { createSignatureChecker } from '#service/proof/signature-checker.ts';
import { createTrustChain } from '#service/proof/trust-chain.ts';
import { zeroStateBlock } from '#service/proof/trusted-blocks.ts';
import { getBlockProof } from '#service/liteserver/functions.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { recordings } from './recorded.ts';
import { createSyntheticChain } from './synthetic-chain.ts';

const logger = pino({ level: 'silent' });
const signatures = createSignatureChecker({}, { register: new Registry(), logger });
afterAll(() => signatures.close());

const network = createSyntheticChain({ weights: [1n, 1n, 1n, 1n] }, { first: 100, last: 200, keyEvery: 10 });
const zeroState = { rootHash: Buffer.alloc(32, 1), fileHash: Buffer.alloc(32, 2) };
const at = (seqno: number): BlockId => network.block(seqno).id;

/** Answers of a lite server. It may give fewer links than needed for the target. */
type LiteServer = (request: BlockProofRequest) => PartialBlockProof | Promise<PartialBlockProof>;

/** Creates an honest lite server: from key block to key block, at most `linksMax` at a time. */
function honest(linksMax = 16): LiteServer {
  return ({ known, target }) => {
    const steps: BlockLink[] = [];
    let seqno = known.seqno;
    while (seqno < target.seqno && steps.length < linksMax) {
      const next = Math.min(seqno - (seqno % 10) + 10, target.seqno);
      steps.push(network.linkTo(seqno, next));
      seqno = next;
    }
    return { complete: seqno === target.seqno, from: known, to: at(seqno), steps };
  };
}

type Bench = {
  chain: TrustChain;
  asked: BlockProofRequest[];
  contexts: ProofContext[];
  refused: string[];
  register: Registry;
};

const opened: TrustChain[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((chain) => chain.close()));
});

/** Creates a chain whose queries go to lite servers in turn until one answers well. */
function start(options: Partial<TrustChainOptions> = {}, liteServers: readonly LiteServer[] = [honest()]): Bench {
  const register = new Registry();
  const asked: BlockProofRequest[] = [];
  const contexts: ProofContext[] = [];
  const refused: string[] = [];
  const chain = createTrustChain(
    { initBlock: at(100), zeroState, ...options },
    {
      signatures,
      register,
      logger,
      async fetchProof(request, check, context) {
        asked.push(request);
        contexts.push(context);
        for (const liteServer of liteServers) {
          try {
            return await check(await liteServer(request));
          } catch (error) {
            if (!(error instanceof ProofError)) throw error;
            refused.push(error.code);
          }
        }
        throw new Error('no lite server gave a good answer');
      },
    },
  );
  opened.push(chain);
  return { chain, asked, contexts, refused, register };
}

function proofContext(signal = new AbortController().signal): ProofContext {
  return { deadlineMs: performance.now() + 10_000, signal };
}

/** Returns the seqnos of the queries, as `known>target`. */
function questions(asked: readonly BlockProofRequest[]): string[] {
  return asked.map(({ known, target }) => `${known.seqno}>${target.seqno}`);
}

describe('The chain of trusted blocks', () => {
  it('the chain trusts its anchor and its zero state, and nothing else, without a query', async () => {
    const { chain, asked } = start();
    await chain.accept(at(100), proofContext());
    await chain.accept(zeroStateBlock(zeroState), proofContext());
    expect(chain.isAccepted(at(101))).toBe(false);
    expect(asked).toEqual([]);
  });

  it('the chain proves a block over key blocks, with as many queries as needed, and starts the next from the last key block', async () => {
    const { chain, asked, register } = start({}, [honest(2)]);
    await chain.accept(at(145), proofContext());
    await chain.accept(at(147), proofContext());
    expect(questions(asked)).toEqual(['100>145', '120>145', '140>145', '140>147']);
    expect(chain.newestKeyBlock()).toEqual(at(140));
    expect(await register.metrics()).toContain('ton_proof_key_block_seqno 140');
  });

  it('the chain sends no query for a block that it proved before, key block or not', async () => {
    const { chain, asked } = start();
    await chain.accept(at(145), proofContext());
    await Promise.all([at(145), at(140), at(110)].map((block) => chain.accept(block, proofContext())));
    expect(chain.isAccepted(at(130))).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it('the chain proves an old block from the key block below it', async () => {
    const { chain, asked } = start();
    await chain.accept(at(175), proofContext());
    await chain.accept(at(133), proofContext());
    expect(questions(asked)).toEqual(['100>175', '130>133']);
  });

  it('the chain shares one proof among all callers with the same block', async () => {
    const { chain, asked } = start();
    await Promise.all(Array.from({ length: 10 }, () => chain.accept(at(125), proofContext())));
    expect(asked).toHaveLength(1);
  });

  it('the chain lets one caller fetch the key blocks at the start, and the others go on from there', async () => {
    const { chain, asked } = start();
    await Promise.all([
      chain.accept(at(188), proofContext()),
      chain.accept(at(189), proofContext()),
      chain.accept(at(187), proofContext()),
    ]);
    expect(questions(asked)).toEqual(['100>188', '180>189', '180>187']);
  });

  it('a block that cannot be proved does not delay the others', async () => {
    const silent = Promise.withResolvers<PartialBlockProof>();
    const bogus = { ...at(199), rootHash: Buffer.alloc(32, 5) };
    const liteServer: LiteServer = (request) => (request.target === bogus ? silent.promise : honest()(request));
    const { chain } = start({ patienceMs: 10 }, [liteServer]);
    const unproved = chain.accept(bogus, proofContext());
    await chain.accept(at(188), proofContext());
    silent.reject(new Error('nothing came'));
    await expect(unproved).rejects.toThrow('nothing came');
  });

  it('the chain asks another lite server when an answer is forged', async () => {
    const forged: LiteServer = async (request) => {
      const { steps, ...answer } = await honest()(request);
      const [first, ...rest] = steps;
      const set = { ...(first as ReturnType<typeof network.linkTo>).signatures, signatures: [] };
      return { ...answer, steps: [{ ...first, signatures: set } as unknown as BlockLink, ...rest] };
    };
    const { chain, refused } = start({}, [forged, honest()]);
    await chain.accept(at(125), proofContext());
    expect(refused).toEqual(['not_enough_weight']);
  });

  it('the chain accepts nothing from forgers alone, and recovers when there is an honest server', async () => {
    let lies = true;
    const liar: LiteServer = async (request) => {
      const answer = await honest()(request);
      return lies ? { ...answer, complete: !answer.complete } : answer;
    };
    const { chain } = start({}, [liar]);
    await expect(chain.accept(at(125), proofContext())).rejects.toThrow('no lite server');
    expect(chain.isAccepted(at(125))).toBe(false);
    expect(chain.newestKeyBlock()).toEqual(at(100));
    lies = false;
    await expect(chain.accept(at(125), proofContext())).resolves.toBeUndefined();
  });

  it('the chain refuses another block at a proved seqno, another zero state and shard blocks, without a query', async () => {
    const { chain, asked } = start();
    const other = { rootHash: Buffer.alloc(32, 9) };
    await expect(chain.accept({ ...at(100), ...other }, proofContext())).rejects.toMatchObject({ code: 'fork' });
    const wrongZero = { ...zeroStateBlock(zeroState), ...other };
    await expect(chain.accept(wrongZero, proofContext())).rejects.toMatchObject({ code: 'wrong_zerostate' });
    await expect(chain.accept({ ...at(101), workchain: 0 }, proofContext())).rejects.toMatchObject({
      code: 'wrong_id',
    });
    expect(asked).toEqual([]);
  });

  it('the chain trusts the highest hardfork above the init block instead of it', () => {
    const hardforks = [at(120), at(150), at(140)];
    expect(start({ hardforks }).chain.newestKeyBlock()).toEqual(at(150));
    expect(start({ initBlock: at(160), hardforks }).chain.newestKeyBlock()).toEqual(at(160));
  });

  it('the chain does not start from another zero state than the configured one', () => {
    const initBlock = { ...zeroStateBlock(zeroState), fileHash: Buffer.alloc(32) };
    expect(() => start({ initBlock })).toThrow('wrong_zerostate');
  });
});

/** Creates a lite server that answers when it is released. */
function held(): { liteServer: LiteServer; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const liteServer: LiteServer = async (request) => promise.then(() => honest()(request));
  return { liteServer, release: resolve };
}

describe('Callers of the chain', () => {
  it('callers who leave do not end the proof for those who stay', async () => {
    const { liteServer, release } = held();
    const { chain, contexts } = start({}, [liteServer]);
    const leaving = new AbortController();
    const left = chain.accept(at(125), proofContext(leaving.signal));
    const stayed = chain.accept(at(125), proofContext());
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(contexts[0]!.signal.aborted).toBe(false);
    release();
    await expect(stayed).resolves.toBeUndefined();
  });

  it('the query ends when the last caller leaves', async () => {
    const { liteServer, release } = held();
    const { chain, contexts } = start({}, [liteServer]);
    const leaving = new AbortController();
    const left = chain.accept(at(125), proofContext(leaving.signal));
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await new Promise(setImmediate);
    expect(contexts[0]!.signal.aborted).toBe(true);
    release();
    await expect(chain.accept(at(125), proofContext())).resolves.toBeUndefined();
  });

  it('callers of a closed chain get an error that is no fault of a lite server', async () => {
    const { chain } = start({}, [held().liteServer]);
    const waiting = chain.accept(at(125), proofContext());
    await Promise.all([expect(waiting).rejects.toMatchObject({ code: 'proof_closed' }), chain.close()]);
    await expect(chain.accept(at(101), proofContext())).rejects.toMatchObject({ name: 'ProofUnavailableError' });
  });

  it('callers are refused when too many blocks are being proved', async () => {
    const { chain } = start({}, [held().liteServer]);
    const waiting = Array.from({ length: 256 }, (_, index) =>
      chain.accept({ ...at(101), seqno: 1000 + index }, proofContext()).catch((error: ProofError) => error.code),
    );
    await expect(chain.accept(at(102), proofContext())).rejects.toMatchObject({ code: 'proof_overloaded' });
    await chain.close();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['proof_closed']));
  });
});

describe('Stored key blocks', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tonplane-trust-'));
    file = join(folder, 'trust', 'key-blocks.json');
    const { chain } = start({ file });
    await chain.accept(at(145), proofContext());
    await chain.close();
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('a restart continues from the last stored key block', async () => {
    const { chain, asked, register } = start({ file });
    expect(chain.newestKeyBlock()).toEqual(at(140));
    await chain.accept(at(152), proofContext());
    expect(questions(asked)).toEqual(['140>152']);
    expect(await register.metrics()).toContain('ton_proof_stored_chains_total{state="loaded"} 1');
    await chain.close();
    expect(start({ file }).chain.newestKeyBlock()).toEqual(at(150));
  });

  it('stored key blocks are used from a new anchor on when the anchor is one of them', () => {
    const { chain } = start({ file, initBlock: at(120) });
    expect(chain.newestKeyBlock()).toEqual(at(140));
  });

  const unusable: readonly (readonly [string, string, () => Promise<Partial<TrustChainOptions>>])[] = [
    ['of another anchor', 'foreign', async () => ({ initBlock: at(101) })],
    ['of a hardfork', 'foreign', async () => ({ hardforks: [{ ...at(120), rootHash: Buffer.alloc(32, 3) }] })],
    ['of another zerostate', 'foreign', async () => ({ zeroState: { ...zeroState, rootHash: Buffer.alloc(32, 3) } })],
    ['that were cut', 'corrupt', async () => rewrite((text) => text.slice(0, -5))],
    ['that were changed', 'corrupt', async () => rewrite((text) => text.replace('140', '141'))],
    [
      'that are no text of ours',
      'corrupt',
      async () => rewrite(() => 'null\n74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b\n'),
    ],
    ['that are too long', 'corrupt', async () => rewrite((text) => text + ' '.repeat(5 * 1024 * 1024))],
    ['that are not there', 'absent', async () => ({ file: join(folder, 'nothing') })],
  ];

  it.each(unusable)('stored key blocks %s are not used: %s', async (_, state, prepare) => {
    const options = { file, ...(await prepare()) };
    const { chain, register } = start(options);
    const { hardforks, initBlock } = options;
    expect(chain.newestKeyBlock()).toEqual(hardforks?.[0] ?? initBlock ?? at(100));
    expect(await register.metrics()).toContain(`ton_proof_stored_chains_total{state="${state}"} 1`);
  });

  it('key blocks that cannot be written do not stop the service', async () => {
    const { chain } = start({ file: join(file, 'below a file') });
    await chain.accept(at(145), proofContext());
    await chain.close();
    expect(chain.newestKeyBlock()).toEqual(at(140));
  });

  async function rewrite(change: (text: string) => string): Promise<Partial<TrustChainOptions>> {
    await writeFile(file, change(await readFile(file, 'utf8')));
    return {};
  }
});

describe.each(recordings())(
  'Recorded links of a real node: $folder',
  ({ exchanges, zeroState: recordedZero, folder }) => {
    const answers = exchanges(getBlockProof).map(({ answer }) => answer);
    const links = answers.flatMap(({ steps }) => steps);
    const missing = skipLoudly(links.length === 0, { what: 'recorded block proofs', why: `none in ${folder}` });

    /** Returns the shortest paths over recorded links, by the seqno that they lead to. */
    function waysFrom({ seqno }: BlockId): Map<number, BlockLink[]> {
      const ways = new Map<number, BlockLink[]>([[seqno, []]]);
      for (const [from, way] of ways) {
        for (const link of links) {
          if (link.from.seqno === from && !ways.has(link.to.seqno)) ways.set(link.to.seqno, [...way, link]);
        }
      }
      return ways;
    }

    const recorded: LiteServer = ({ known, target }) => {
      const steps = waysFrom(known).get(target.seqno) ?? [];
      return { complete: true, from: known, to: target, steps };
    };

    it.skipIf(missing)('recorded links prove every block they lead to from the zero state', async () => {
      const initBlock = zeroStateBlock(recordedZero);
      const { chain } = start({ initBlock, zeroState: recordedZero }, [recorded]);
      const ways = waysFrom(initBlock);
      const reached = links.map(({ to }) => to).filter(({ seqno }) => ways.has(seqno));
      expect(reached.length).toBeGreaterThan(0);
      for (const block of reached) await chain.accept(block, proofContext());
      expect(reached.every((block) => chain.isAccepted(block))).toBe(true);
    });

    it.skipIf(missing)('recorded links prove blocks older than the anchor, backwards', async () => {
      const newest = answers.map(({ from }) => from).toSorted((a, b) => b.seqno - a.seqno)[0]!;
      const older = links.filter(
        ({ kind, from, to }) => kind === 'back' && from.seqno === newest.seqno && to.seqno > 0,
      );
      expect(older.length).toBeGreaterThan(0);
      for (const { to } of older) {
        const { chain, asked } = start({ initBlock: newest, zeroState: recordedZero }, [recorded]);
        await chain.accept(to, proofContext());
        expect(questions(asked)).toEqual([`${newest.seqno}>${to.seqno}`]);
      }
    });
  },
);
