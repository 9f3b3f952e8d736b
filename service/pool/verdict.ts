import { TonplaneError } from '../error.ts';
import { LiteServerError } from '../liteserver/errors.ts';
import { TlError } from '../liteserver/tl/errors.ts';
import { ProofError } from '../proof/errors.ts';
import { PoolError } from './errors.ts';

/** How one attempt ended, as metrics and traces name it. */
export type AttemptOutcome =
  | 'ok'
  /** Its proof failed. */
  | 'misbehaving'
  /** The check refused the answer for another reason than a proof: it could not be read, or not be judged now. */
  | 'unchecked'
  /** Given up: another lite server was faster, or the caller left. */
  | 'abandoned'
  | LiteServerError['code'];

/** What an error of one attempt means for the read and for the lite server. */
export type Verdict = {
  readonly outcome: AttemptOutcome;
  /** What it says about the lite server. */
  readonly health: 'works' | 'failed' | 'misbehaved' | 'nothing';
  /** True when every other lite server would say the same: the error is the answer. */
  readonly final: boolean;
  /** How much the error tells the caller when nothing better comes: the highest is shown. */
  readonly telling: number;
};

/** Judges the error that an attempt ended with. An error that nobody raised on purpose is a fault of ours: final, and no one's fault but ours. */
export function judge(error: unknown): Verdict {
  if (error instanceof LiteServerError) return judgeLiteServer(error);
  if (error instanceof TlError) return { outcome: 'protocol', health: 'failed', final: false, telling: 5 };
  if (error instanceof ProofError) return { outcome: 'misbehaving', health: 'misbehaved', final: false, telling: 4 };
  if (error instanceof PoolError) {
    const final = error.code === 'closed' || error.code === 'saturated';
    return { outcome: 'unchecked', health: 'nothing', final, telling: 1 };
  }
  if (error instanceof TonplaneError) return { outcome: 'unchecked', health: 'nothing', final: false, telling: 3 };
  return { outcome: 'unchecked', health: 'nothing', final: true, telling: 9 };
}

/** The lite server's own limit of 4.5 s was over (lite server sheet 1.4). */
const SERVER_LIMIT = -503;

/** A wait for a block was over before the block came: the lite server works, it is only behind. */
const WAIT_TIMED_OUT = 652;

/** `final` classes are refusals that every lite server would repeat; the ranks of `telling` put what was said above silence. */
const liteServerVerdicts: Readonly<Record<LiteServerError['code'], Omit<Verdict, 'outcome'>>> = {
  client: { health: 'works', final: true, telling: 8 },
  rejected: { health: 'works', final: true, telling: 8 },
  duplicate: { health: 'works', final: true, telling: 8 },
  pruned: { health: 'works', final: false, telling: 7 },
  lagging: { health: 'works', final: false, telling: 7 },
  unsupported: { health: 'works', final: false, telling: 6 },
  overloaded: { health: 'failed', final: false, telling: 5 },
  server_fault: { health: 'failed', final: false, telling: 5 },
  protocol: { health: 'failed', final: false, telling: 5 },
  timeout: { health: 'failed', final: false, telling: 2 },
  unreachable: { health: 'failed', final: false, telling: 0 },
  closed: { health: 'failed', final: false, telling: 0 },
  busy: { health: 'nothing', final: false, telling: 0 },
  aborted: { health: 'nothing', final: false, telling: 0 },
};

function judgeLiteServer({ code, data }: LiteServerError): Verdict {
  const verdict = { outcome: code, ...liteServerVerdicts[code] };
  return data.serverCode === WAIT_TIMED_OUT ? { ...verdict, health: 'works' } : verdict;
}

/** The refusal when all errors are that the lite server does not have what is asked for: it is not there, as far as is known. */
export function commonAbsence(errors: readonly unknown[]): LiteServerError | undefined {
  const absences = errors.filter((error) => error instanceof LiteServerError).filter(({ code }) => code === 'pruned');
  return absences.length === errors.length ? absences[0] : undefined;
}

/**
 * The error to show when every attempt failed: that of the lite server that tells most. Silence becomes `deadline`, nobody to
 * reach becomes `no_lite_server`.
 */
export function mostTelling(errors: readonly unknown[]): unknown {
  const [best] = errors.toSorted((a, b) => judge(b).telling - judge(a).telling);
  const data = { attempts: errors.length, ...(best instanceof Error ? { lastError: best.message } : {}) };
  if (best === undefined || judge(best).telling === 0) return new PoolError('no_lite_server', data, best);
  const silent = best instanceof LiteServerError && (best.code === 'timeout' || best.data.serverCode === SERVER_LIMIT);
  return silent ? new PoolError('deadline', data, best) : best;
}
