import { createHash } from 'node:crypto';

import type { KubernetesClient } from './kubernetes/client.ts';
import { resources } from './kubernetes/resources.ts';

/** `unknown`: the API server could not be asked, or too much was asked at once. */
export type Access = 'allowed' | 'unauthenticated' | 'forbidden' | 'unknown';

/** Access to `/metrics`. The API server must accept the token (TokenReview) and grant `get` on that path (SubjectAccessReview). */
export type MetricsAccess = {
  /** Never rejects. @param authorization the header */
  check(authorization: string | undefined): Promise<Access>;
};

/** Cache duration of a grant, and so of a withdrawn right. A Prometheus asks twice in this time. */
const ALLOWED_MS = 60_000;

/** Short: a right that was just given is there soon. */
const REFUSED_MS = 5_000;

/** Tokens whose answers are remembered: a handful of scrapers, whose tokens are renewed every hour. */
const TOKENS_MAX = 64;

/** Questions in progress at once: strangers must not make the operator a burden for the API server. */
const ASKS_MAX = 8;

/** Real tokens have 1 to 4 KB. */
const TOKEN_CHARS_MAX = 16_384;

/** A scrape has ten seconds as a rule. */
const bounds = { timeoutMs: 5_000 };

type Answer = { readonly access: Access; readonly untilMs: number };

export function createMetricsAccess({
  client,
  now,
  onFailure,
}: {
  readonly client: Pick<KubernetesClient, 'review'>;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** The API server could not be asked. */
  readonly onFailure: (error: unknown) => void;
}): MetricsAccess {
  const answers = new Map<string, Answer>();
  let asks = 0;

  async function ask(token: string): Promise<Access> {
    const { authenticated, user } = (await client.review(resources.TokenReview, { token }, bounds)) as TokenStatus;
    if (authenticated !== true || user === undefined) return 'unauthenticated';
    const { username, uid, groups, extra } = user;
    const wanted = { user: username, uid, groups, extra, nonResourceAttributes: { path: '/metrics', verb: 'get' } };
    const { allowed } = await client.review(resources.SubjectAccessReview, wanted, bounds);
    return allowed === true ? 'allowed' : 'forbidden';
  }

  function remember(key: string, access: Access): void {
    answers.delete(key);
    answers.set(key, { access, untilMs: now() + (access === 'allowed' ? ALLOWED_MS : REFUSED_MS) });
    if (answers.size <= TOKENS_MAX) return;
    // The oldest; strangers with many tokens do not drive out a scraper.
    const refused = [...answers.keys()].find((other) => answers.get(other)?.access !== 'allowed');
    const [oldest] = answers.keys();
    answers.delete(refused ?? oldest ?? '');
  }

  return {
    async check(authorization) {
      const token = /^Bearer ([\w~+/.=-]+)$/i.exec(authorization ?? '')?.[1];
      if (token === undefined || token.length > TOKEN_CHARS_MAX) return 'unauthenticated';
      const key = createHash('sha256').update(token).digest('base64');
      const known = answers.get(key);
      if (known !== undefined && now() < known.untilMs) return known.access;
      if (asks >= ASKS_MAX) return 'unknown';
      asks++;
      try {
        const access = await ask(token);
        remember(key, access);
        return access;
      } catch (error) {
        onFailure(error);
        return 'unknown';
      } finally {
        asks--;
      }
    },
  };
}

/** `TokenReview.status`, as far as it is asked for. */
type TokenStatus = {
  readonly authenticated?: boolean;
  readonly user?: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
};
