import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** Requests that run until they are stopped. */
export type Load = {
  /** So far. */
  readonly asked: number;
  /** Requests without an answer, or with another status than the expected. */
  readonly failures: readonly string[];
  /** Waits for the requests in progress. */
  stop(): Promise<void>;
};

/** What failed is told up to here; the rest is only counted by `asked` going on. */
const failuresMax = 1000;

/**
 * Asks a URL again and again from several clients at once, each request on a connection of its own, so that every one is
 * passed to a pod anew.
 *
 * @param options.expected status of a good answer, default 200
 * @param options.pauseMs pause of a client after each request, default 0: as many requests as the machine serves
 */
export function startLoad(
  url: string,
  options: {
    readonly clients: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly expected?: number;
    readonly pauseMs?: number;
  },
): Load {
  const { clients, headers, expected = 200, pauseMs = 0 } = options;
  const stopping = new AbortController();
  const failures: string[] = [];
  let asked = 0;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      asked++;
      const outcome = await ask(url, headers).catch(String);
      if (!outcome.startsWith(`${expected} `) && failures.length < failuresMax) failures.push(outcome.slice(0, 200));
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  const runs = Array.from({ length: clients }, run);
  return {
    get asked() {
      return asked;
    },
    failures,
    async stop() {
      stopping.abort();
      await Promise.all(runs);
    },
  };
}

/** Status and body of an answer. `fetch` takes almost twice the CPU for a request on a connection of its own. */
function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, headers }, (response) => {
      text(response).then((body) => resolve(`${response.statusCode} ${body}`), reject);
    });
    request.on('error', reject);
  });
}
