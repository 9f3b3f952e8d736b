import type { Span } from '@opentelemetry/api';

import type { LiteServerError } from '../liteserver/errors.ts';
import type { QueryOptions } from '../liteserver/liteserver.ts';
import type { Requirement } from './lite-server-picker.ts';
import type { ReadEvent } from './read-event.ts';
import type { CheckedAttempt, PoolContext } from './reads.ts';

/** Part of a context that applies to all queries under it. */
export type Rights = Pick<PoolContext, 'access' | 'isUrgent' | 'caller'>;

/** Read as its attempts see it. */
export type Question<T> = {
  readonly name: string;
  readonly request: Buffer;
  readonly span: Span | undefined;
  readonly deadlineMs: number;
  /** Rights for further reads of a check. */
  readonly rights: Rights;
  readonly wanted: Requirement;
  /** Wait given by the caller itself. */
  readonly waitMasterchain?: QueryOptions['waitMasterchain'];
  /** Called when every asked lite server lacks the data. */
  readonly onAbsent?: (error: LiteServerError) => void;
  /** Called with the attempts, and with the reads of a check. */
  readonly observe: (event: ReadEvent) => void;
  readonly judgeAnswer: (answer: Buffer, attempt: CheckedAttempt) => T | Promise<T>;
};

/** Good answer of a lite server, with its value. */
export type AttemptResult<T> = { readonly value: T; readonly liteServer: number; readonly answer: Buffer };
