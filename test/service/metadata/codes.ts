import { MetadataError, type MetadataErrorCode } from '#service/metadata/errors.ts';

/** The code that work fails with; what is no error of ours is thrown on, and success is told as such. */
export async function codeOf(work: () => unknown): Promise<MetadataErrorCode | 'no error'> {
  try {
    await work();
    return 'no error';
  } catch (error) {
    if (error instanceof MetadataError) return error.code;
    throw error;
  }
}
