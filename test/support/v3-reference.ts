import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { OpenApi } from '#test/service/http/reference.ts';
import { projectRoot } from '#test/style/sources.ts';
import { createAnswerJudge, type AnswerJudge } from './v2-reference.ts';

const file = resolve(projectRoot, '../shared/spec/v3.openapi.json');

export const missingV3Reference = { what: 'comparison with the v3 contract', why: 'v3.openapi.json is not here' };

/** The published contract, when it is here. */
export const v3Reference: OpenApi | undefined = existsSync(file)
  ? (JSON.parse(readFileSync(file, 'utf8')) as OpenApi)
  : undefined;

/** Judges answers by the published contract; undefined when that is not here. */
export function createV3Judge(): AnswerJudge | undefined {
  return v3Reference && createAnswerJudge(v3Reference);
}
