import type { Classified } from '../actions/classify.ts';
import { eventTransaction } from '../actions/engine/event-transaction.ts';
import type { ClassifierTrace } from '../actions/engine/classifier-input.ts';
import { formatRawAddress, parseAddress } from '../decode/address.ts';
import { readChangedAccount } from '../interfaces/account-code.ts';
import { classifyWithLookups } from '../interfaces/classify-with-lookups.ts';
import type { Detector } from '../interfaces/detector.ts';
import type { AccountFacts } from '../interfaces/facts.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ChainSnapshot } from '../live/contracts/chain-snapshot.ts';
import type { ExternalMessage } from '../live/send/external-message.ts';
import type { SimulatedTrace } from './emulation.ts';

/** Concurrent detections. A trace leaves the TVM's other threads to other callers. */
const LOOKED_INTO_AT_ONCE = 4;

/** A trace that no block holds has no masterchain block (service/v3/README.md#pending). */
const NO_SEQNO = 0;

/**
 * Classifies a simulated trace. An account has the state after the trace, or before it when the trace destroys the account.
 * Rejects as `Detector.detect` does.
 */
export function classifySimulated(
  message: ExternalMessage,
  foreseen: SimulatedTrace,
  { world, detector }: { readonly world: ChainSnapshot; readonly detector: Detector },
): Promise<Classified> {
  const after = world.foresee(foreseen.after);

  async function factsOf({ workchain, id }: AccountId): Promise<AccountFacts | undefined> {
    const account = { workchain, id };
    const left = await readChangedAccount(after, account);
    const isDestroyed = left.codeHash === null && foreseen.after.has(formatRawAddress(account));
    const detected = isDestroyed
      ? await detector.detect(world, await readChangedAccount(world, account))
      : await detector.detect(after, left);
    return detected?.facts;
  }

  return classifyWithLookups(eventTraceOf(message, foreseen), async (accounts) => {
    const facts = new Map<string, AccountFacts>();
    const left = accounts.values();
    const lookIntoNext = async (): Promise<void> => {
      for (const account of left) {
        const address = parseAddress(account);
        const found = address && (await factsOf(address));
        if (found !== undefined) facts.set(account, found);
      }
    };
    await Promise.all(Array.from({ length: LOOKED_INTO_AT_ONCE }, lookIntoNext));
    return facts;
  });
}

function eventTraceOf({ hash, normalizedHash }: ExternalMessage, { transactions }: SimulatedTrace): ClassifierTrace {
  const events = transactions.map(({ table, transaction, workchain }) =>
    eventTransaction({ table, transaction, workchain, mcSeqno: NO_SEQNO }),
  );
  const last = events.at(-1)!;
  return {
    traceId: events[0]!.hash,
    externalHash: hash.toString('base64'),
    externalHashNorm: normalizedHash.toString('base64'),
    endLt: last.lt,
    endUtime: last.utime,
    mcSeqnoEnd: NO_SEQNO,
    transactions: events,
  };
}
