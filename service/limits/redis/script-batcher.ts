import { createHash } from 'node:crypto';

import { isCluster, type Connection } from './connection.ts';

export type Script = { readonly text: string; readonly sha1: string };

export function scriptOf(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Script that takes any number of keys, each with an argument of its own. */
export type SharedScript = {
  readonly script: Script;
  /** Arguments shared by all keys of a call; they come first. */
  readonly common: readonly (string | number)[];
  /** Numbers that the script answers for each key. */
  readonly answerLength: number;
};

/** Batches queries made at about the same time into one call. */
export type ScriptBatcher = {
  /** Returns the script's numbers for the key. */
  readonly ask: (key: string, argument: string) => Promise<readonly number[]>;
};

/** Most keys in one call. 100 keys take Redis half a millisecond, in which other clients wait. */
const KEYS_MAX = 100;

type Question = {
  readonly key: string;
  readonly argument: string;
  readonly resolve: (answer: readonly number[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Runs a script. The text is sent only when Redis has not cached it. */
export async function evaluate(
  connection: Pick<Connection, 'eval' | 'evalsha'>,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await connection.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!isReply(error, 'NOSCRIPT')) throw error;
    return connection.eval(script.text, keys.length, ...keys, ...args);
  }
}

/**
 * Batches the queries of one turn of the event loop into one call. A call for each would cost more in encoding than the rest of the decision. In a
 * cluster each key is a call of its own, because keys are in different slots.
 *
 * @param timely applies the timeout to an answer; a late answer fails the store
 */
export function createScriptBatcher(
  { script, common, answerLength }: SharedScript,
  connection: () => Connection,
  timely: <T>(answer: Promise<T>) => Promise<T>,
): ScriptBatcher {
  let waiting: Question[] = [];
  /** Set when a server turns out to be part of a cluster, although its URL does not say so. */
  let oneByOne = false;

  const call = async (questions: readonly Question[]): Promise<void> => {
    const keys = questions.map(({ key }) => key);
    const args = [...common, ...questions.map(({ argument }) => argument)];
    try {
      const answers = (await timely(evaluate(connection(), script, keys, args))) as readonly number[];
      questions.forEach(({ resolve }, index) => {
        resolve(answerLength === 0 ? [] : answers.slice(index * answerLength, (index + 1) * answerLength));
      });
    } catch (error) {
      if (isReply(error, 'CROSSSLOT') && questions.length > 1) {
        oneByOne = true;
        for (const question of questions) void call([question]);
        return;
      }
      for (const { reject } of questions) reject(error);
    }
  };

  const send = (): void => {
    const all = waiting;
    waiting = [];
    const size = oneByOne || isCluster(connection()) ? 1 : KEYS_MAX;
    for (let at = 0; at < all.length; at += size) void call(all.slice(at, at + size));
  };

  return {
    ask: (key, argument) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(send);
        waiting.push({ key, argument, resolve, reject });
      }),
  };
}

/** Reports whether an error is a reply of Redis with the code, such as `NOSCRIPT`. */
export function isReply(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code);
}

/** Returns the code of an error that Redis replies, such as `OOM`, else the kind of the error. */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  return error.name === 'ReplyError' ? (error.message.split(' ', 1)[0] ?? error.name) : error.name;
}
