import { StoreError } from './errors.ts';

/** Attempts to connect, each in the way that worked last. */
export type Turns<Way> = <Result>(attempt: (way: Way) => Promise<Result>) => Promise<Result>;

/** Tries ways in turn: after a refusal by the server the next way is tried. Each call tries each way at most once. */
export function createTurns<Way>(ways: readonly Way[]): Turns<Way> {
  let position = 0;
  return async (attempt) => {
    for (let tries = 1; ; tries++) {
      const tried = position;
      try {
        return await attempt(ways[tried] as Way);
      } catch (error) {
        if (tries >= ways.length || !refusesWay(error)) throw error;
        // A concurrent call may have moved on already.
        if (position === tried) position = (tried + 1) % ways.length;
      }
    }
  };
}

/** SQLSTATE for a way without an entry in pg_hba.conf. */
const noEntry = '28000';

/** True if another way may succeed. Examples: the server has no TLS, breaks its handshake, or has no entry for this way. */
function refusesWay(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const { cause = '' } = error.data;
  return (
    cause === noEntry ||
    cause === 'EPROTO' ||
    cause.startsWith('ERR_SSL_') ||
    error.message === 'The server does not support SSL connections'
  );
}
