import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { OpenApi } from '#test/service/http/reference.ts';
import { projectRoot } from '#test/style/sources.ts';
import { createAnswerJudge, type AnswerJudge } from './v2-reference.ts';

const file = resolve(projectRoot, 'test/vectors/toncenter/v3.openapi.json');

/** The published contract of v3. */
export const v3Reference = JSON.parse(readFileSync(file, 'utf8')) as OpenApi;

/** Judges answers by the published contract. */
export function createV3Judge(): AnswerJudge {
  return createAnswerJudge(v3Reference);
}
