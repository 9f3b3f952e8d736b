import { hash } from './hash-parameter.ts';
import { defineOperation, localAnswer, type Operation } from '../contract/operation.ts';
import { hash as hashText, hexHash } from './scalars.ts';
import { constant, named, object, scalar, type Infer } from '../contract/shape.ts';
import { viewHash } from './views.ts';

const detectedHash = named(
  'DetectedHash',
  object({
    '@type': constant('ext.utils.detectedHash'),
    b64: hashText,
    b64url: scalar<string>({ type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' }),
    hex: hexHash,
  }),
);

/** A hash in each form; base64url without padding (service/v2/README.md#utils). */
export function viewDetectedHash(bytes: Buffer): Infer<typeof detectedHash> {
  return {
    '@type': 'ext.utils.detectedHash',
    b64: viewHash(bytes),
    b64url: bytes.toString('base64url'),
    hex: bytes.toString('hex'),
  };
}

/** Conversions of hashes, without a lite server (service/v2/README.md#utils). */
export function hashOperations(): readonly Operation[] {
  return [
    defineOperation({
      name: 'detectHash',
      methods: ['GET', 'POST'],
      tag: 'utils',
      summary: 'Every form of a hash.',
      parameters: { hash },
      result: detectedHash,
      handle: async (values) => localAnswer(viewDetectedHash(values.hash)),
    }),
  ];
}
