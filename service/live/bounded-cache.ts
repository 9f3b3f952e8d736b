// The pool's cache, for stages above live.
export { createAnswerCache as createBoundedCache } from '../pool/answer-cache.ts';
export type { AnswerCache as BoundedCache } from '../pool/answer-cache.ts';
