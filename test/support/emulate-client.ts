import type { OpenApi } from '#test/service/http/reference.ts';
import { post, request, type Reply } from '#test/service/http/requests.ts';
import type { ApiUnderTest } from './api.ts';
import { createAnswerJudge } from './v2-reference.ts';
import { createEmulationJudge } from './v3-reference.ts';

export type EmulateOperation = 'emulateTrace' | 'emulateTonConnect';

/** Client of the emulation of one API. */
export type EmulateClient = {
  /** Posts a body. Rejects if the answer contradicts the document, or its objects contradict the published contract of v3. */
  post(operation: EmulateOperation, body: object, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Posts any text. */
  postText(operation: EmulateOperation, text: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Returns these contradictions of an answer. */
  flaws(operation: EmulateOperation, reply: Reply): readonly unknown[];
};

const pathOf = (operation: EmulateOperation): string => `/api/emulate/v1/${operation}`;

/** Characters of the flaws in an error. */
const SHOWN_MAX = 4_000;

/** @param document the document that the answers are compared with */
export function createEmulateClient(url: string, document: OpenApi, key?: string): EmulateClient {
  const judge = createAnswerJudge(document);
  const publishedFlaws = createEmulationJudge();
  const postText: EmulateClient['postText'] = (operation, text, headers) =>
    post(`${url}${pathOf(operation)}`, text, {
      'content-type': 'application/json',
      ...(key !== undefined && { 'x-api-key': key }),
      ...headers,
    });
  const flaws: EmulateClient['flaws'] = (operation, { status, body }) => [
    ...judge.flaws({ path: pathOf(operation), method: 'POST', status }, body),
    ...(status === 200 ? publishedFlaws(body) : []),
  ];
  return {
    postText,
    flaws,
    async post(operation, body, headers) {
      const reply = await postText(operation, JSON.stringify(body), headers);
      const found = flaws(operation, reply);
      if (found.length === 0) return reply;
      throw new Error(`the answer contradicts the document: ${JSON.stringify(found).slice(0, SHOWN_MAX)}`);
    },
  };
}

/** Reads the document of an API, and returns a client of its emulation. */
export async function openEmulateClient({ api, key }: Pick<ApiUnderTest, 'api' | 'key'>): Promise<EmulateClient> {
  const { body } = await request(`${api.url}/api/emulate/v1/openapi.json`);
  return createEmulateClient(api.url, body as unknown as OpenApi, key);
}
