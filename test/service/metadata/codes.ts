import { MetadataError, type MetadataErrorCode } from '#service/metadata/errors.ts';

/** Returns the error code that work fails with, or `no error`. Other errors are thrown on. */
export async function codeOf(work: () => unknown): Promise<MetadataErrorCode | 'no error'> {
  try {
    await work();
    return 'no error';
  } catch (error) {
    if (error instanceof MetadataError) return error.code;
    throw error;
  }
}
