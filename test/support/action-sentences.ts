import { settle, settleAll, type GeneratedFile, type GenerateOptions } from '#crds/generated-file.ts';
import { actionTypes } from '#service/actions/families.ts';
import { extraCurrencyTransfer, extraCurrencyTransferWords } from '#service/v3/action-details/action-schema.ts';

const path = 'service/explorer/app/action-sentences.gen.ts';

/** Writes the titles and sentences of actions for the explorer. A browser loads them, so they stand apart from the classifier. */
export async function generateActionSentences(options: GenerateOptions): Promise<GeneratedFile[]> {
  const words = [...actionTypes].map(([name, type]) => [name, type.words] as const);
  const sentences = Object.fromEntries([...words, [extraCurrencyTransfer, extraCurrencyTransferWords] as const]);
  return [await settle(path, textOf(sentences), options)];
}

function textOf(sentences: Readonly<Record<string, readonly [string, string]>>): string {
  return `/** Title and sentence of each type of action, from service/actions by npm run generate. */
export const actionSentences: Readonly<Record<string, readonly [title: string, sentence: string]>> = ${JSON.stringify(sentences)};
`;
}

if (import.meta.main) await settleAll(generateActionSentences);
