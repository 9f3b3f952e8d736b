// What the stages over live need of the pool's memory.
export { createAnswerCache as createBoundedCache } from '../pool/answer-cache.ts';
export type { AnswerCache as BoundedCache } from '../pool/answer-cache.ts';
