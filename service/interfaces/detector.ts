import type { Registry } from 'prom-client';

import { knownWallet } from '../decode/known-codes.ts';
import type { AccountView } from '../live/accounts/account-view.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ChainSnapshot } from '../live/contracts/chain-snapshot.ts';
import { accountKey } from '../store/account-key.ts';
import type {
  DnsEntryRow,
  JettonMasterRow,
  JettonWalletRow,
  MultisigOrderRow,
  MultisigRow,
  NftCollectionRow,
  NftItemRow,
  NftSaleRow,
  VestingContractRow,
} from '../store/classification-tables.ts';
import { createAbsentMethods } from './absent-methods.ts';
import { methodsOf } from './account-code.ts';
import { createContractConfirmation } from './contract-confirmation.ts';
import type { AccountFacts } from './facts.ts';
import { families } from './families.ts';
import type { Family, Found, Subject, DetectionContext } from './family.ts';
import { askOf, idOf } from './method-names.ts';
import { createInterfacesMetrics } from './metrics.ts';
import { runMethodBatch } from './method-batch.ts';
import { createZones, type ZonesOptions } from '../live/tokens/dns-zones.ts';

/** Account whose state changed, with the data that blocks have. */
export type ChangedAccount = {
  readonly account: AccountId;
  /** 32 bytes; null for an account without code. */
  readonly codeHash: Uint8Array | null;
  /** Ids of the code's method dictionary, ascending; null when the code has another shape. */
  readonly methods: readonly number[] | null;
};

/** Result of detection, confirmed by the responsible contracts. A contract may be of several kinds. Rows are as of the block of the world. */
export type Detected = {
  readonly jettonMaster?: JettonMasterRow;
  readonly jettonWallet?: JettonWalletRow;
  readonly nftCollection?: NftCollectionRow;
  readonly nftItem?: NftItemRow;
  readonly dnsEntry?: DnsEntryRow;
  readonly nftSale?: NftSaleRow;
  readonly multisig?: MultisigRow;
  readonly multisigOrder?: MultisigOrderRow;
  readonly vestingContract?: VestingContractRow;
  /** Facts for classification; empty for an account without meaning to it. */
  readonly facts: AccountFacts;
  /** Lt of the account's last transaction as of the block; 0 for a missing account. */
  readonly lastTransLt: bigint;
};

/** Part of a world that detection needs, of the chain or of simulated states. */
export type DetectionWorld = Pick<ChainSnapshot, 'readAccount' | 'runMethod' | 'runMethods' | 'readDnsRoot'>;

/** Detects the kinds of accounts by running their get-methods (service/interfaces/README.md#kinds-of-contracts). */
export type Detector = {
  /**
   * Detects an account. Returns undefined without reading it if its code fits no kind. Rejects like `ChainSnapshot.runMethod` for a failure unrelated
   * to the account.
   */
  detect(world: DetectionWorld, changed: ChangedAccount): Promise<Detected | undefined>;
};

export type DetectorOptions = ZonesOptions;

export type DetectorDependencies = { readonly register: Registry };

/** Properties of code that decide which kinds are possible. */
type Code = { readonly codeHash: Uint8Array; readonly methods: readonly number[] | null };

/** Kind that code may be of, and the methods to run. */
type Candidate = { readonly family: Family; readonly asks: readonly string[] };

/** Creates a detector. It caches facts that stay true from block to block. */
export function createDetector(options: DetectorOptions, { register }: DetectorDependencies): Detector {
  const metrics = createInterfacesMetrics(register);
  const consultations = createContractConfirmation(metrics);
  const absent = createAbsentMethods();
  const zoneOf = createZones(options);

  /** Returns every kind whose methods the code has, as far as its shape is known. */
  function candidatesOf({ codeHash, methods }: Code): Candidate[] {
    const hash = Buffer.from(codeHash).toString('base64');
    if (knownWallet(hash) !== undefined) return [];
    const ids = methods && new Set(methods);
    const missing = absent.of(hash);
    const has = (method: string): boolean => (ids === null ? !missing.has(idOf(method)) : ids.has(idOf(method)));
    return families
      .filter(({ codeHashes, needs }) => codeHashes?.has(hash) !== false && needs.every(has))
      .map((family) => ({ family, asks: [...family.needs, ...(family.asks ?? []).filter(has)] }));
  }

  async function look(world: DetectionWorld, changed: ChangedAccount & Code): Promise<Detected | undefined> {
    if (candidatesOf(changed).length === 0) return undefined;
    const view = await world.readAccount(changed.account);
    const lastTransLt = view.lastTransaction.lt;
    const { code, data, codeHash, dataHash } = view;
    if (code === null || data === null || codeHash === null || dataHash === null) return { facts: {}, lastTransLt };
    // The world may be of a later block than the change, and the code may have changed since.
    const methods = codeHash.equals(changed.codeHash) ? changed.methods : methodsOf(code);
    const candidates = candidatesOf({ codeHash, methods });
    const answers = await ask(world, changed.account, { candidates, codeHash, isKnown: methods !== null });
    const subject = subjectOf(view, { codeHash, data, dataHash }, answers);
    const around: DetectionContext = {
      consult: (consultation) => consultations.consult(world, changed.account, consultation),
      zoneOf: (collection) => zoneOf(world, collection),
    };
    let all: Found = {};
    for (const { family } of candidates) {
      const found = await family.detect(subject, around);
      const isFound = typeof found !== 'string';
      metrics.detections.inc({ kind: family.kind, outcome: isFound ? 'found' : found });
      if (isFound) all = { ...found, ...all, facts: { ...found.facts, ...all.facts } };
    }
    return { ...all, facts: all.facts ?? {}, lastTransLt };
  }

  /** Runs all methods of all candidates in one visit. */
  async function ask(
    world: DetectionWorld,
    account: AccountId,
    { candidates, codeHash, isKnown }: { candidates: readonly Candidate[]; codeHash: Buffer; isKnown: boolean },
  ): Promise<Subject['answers']> {
    const asks = [...new Set(candidates.flatMap((candidate) => candidate.asks))].map(askOf);
    if (asks.length === 0) return () => undefined;
    metrics.visits.inc({ purpose: 'account' });
    const said = await runMethodBatch(world, account, asks);
    if (!isKnown) absent.learn(codeHash.toString('base64'), said.absent);
    return said.answers;
  }

  return {
    async detect(world, changed) {
      const { codeHash } = changed;
      try {
        const detected = codeHash === null ? undefined : await look(world, { ...changed, codeHash });
        metrics.accounts.inc({ result: resultOf(detected) });
        return detected;
      } catch (error) {
        metrics.accounts.inc({ result: 'failed' });
        throw error;
      }
    },
  };
}

function resultOf(detected: Detected | undefined): string {
  if (detected === undefined) return 'impossible';
  const { facts, lastTransLt: _, ...rows } = detected;
  return Object.keys(rows).length + Object.keys(facts).length === 0 ? 'nothing' : 'something';
}

function subjectOf(
  view: AccountView,
  { codeHash, data, dataHash }: { readonly codeHash: Buffer; readonly data: Buffer; readonly dataHash: Buffer },
  answers: Subject['answers'],
): Subject {
  const state = { last_trans_lt: view.lastTransaction.lt, code_hash: codeHash, data_hash: dataHash };
  return { account: view.account, key: accountKey(view.account), codeHash, data, state, answers };
}
