import { TonplaneError } from '../error.ts';
import { LiteServerError } from '../liteserver/errors.ts';
import { TlError } from '../liteserver/tl/errors.ts';
import { ProofError } from '../proof/errors.ts';
import { PoolError } from './errors.ts';

/** Outcome of one attempt, as in metrics and traces. */
export type AttemptOutcome =
  | 'ok'
  /** Its proof failed. */
  | 'misbehaving'
  /** The check refused the answer for another reason than a proof: it was unreadable, or cannot be judged now. */
  | 'unchecked'
  /** Given up, because another lite server was faster or the caller left. */
  | 'abandoned'
  | LiteServerError['code'];

/** Meaning of an attempt's error for the read and for the lite server. */
export type Verdict = {
  readonly outcome: AttemptOutcome;
  /** Meaning for the lite server's health. */
  readonly health: 'works' | 'failed' | 'misbehaved' | 'nothing';
  /** True when every other lite server would return the same error. The error is then the answer. */
  readonly final: boolean;
  /** Rank of the error's information for the caller. The highest is returned if no attempt succeeds. */
  readonly telling: number;
};

/** Judges the error of an attempt. An error without a known code is a fault of the service. It is final, and no lite server is at fault. */
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

/** Code when the lite server's own limit of 4.5 s is over (service/liteserver/README.md#timers). */
const SERVER_LIMIT = -503;

/** Code when a wait ended before its block came. The lite server works and is only behind. */
const WAIT_TIMED_OUT = 652;

/** Verdicts by code. `final` classes are refusals that every lite server would repeat. The ranks of `telling` put answers above silence. */
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

/** Returns the common refusal when every error says that the lite server lacks the data. The data then do not exist, as far as is known. */
export function commonAbsence(errors: readonly unknown[]): LiteServerError | undefined {
  const absences = errors.filter((error) => error instanceof LiteServerError).filter(({ code }) => code === 'pruned');
  return absences.length === errors.length ? absences[0] : undefined;
}

/**
 * Returns the error to show when every attempt failed: the most informative one. Silence becomes `deadline`, an empty pool becomes `no_lite_server`.
 */
export function mostInformativeError(errors: readonly unknown[]): unknown {
  const [best] = errors.toSorted((a, b) => judge(b).telling - judge(a).telling);
  const data = { attempts: errors.length, ...(best instanceof Error ? { lastError: best.message } : {}) };
  if (best === undefined || judge(best).telling === 0) return new PoolError('no_lite_server', data, best);
  const silent = best instanceof LiteServerError && (best.code === 'timeout' || best.data.serverCode === SERVER_LIMIT);
  return silent ? new PoolError('deadline', data, best) : best;
}
