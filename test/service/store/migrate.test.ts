import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { checkSchema, migrate, missingSteps, schemaVersion } from '#service/store/migrate.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';

describe('migrate', () => {
  let tested: StoreUnderTest;

  beforeEach(async () => {
    tested = await createStoreUnderTest(import.meta.filename);
  });

  afterEach(() => tested.close());

  it('makes the tables from nothing, and nothing a second time', async () => {
    await expect(checkSchema(tested.store)).rejects.toMatchObject({ code: 'schema_missing' });
    const versions = Array.from({ length: schemaVersion }, (_, index) => index + 1);
    expect((await missingSteps(tested.store)).map(({ version }) => version)).toEqual(versions);
    expect(await migrate(tested.store)).toEqual(versions);
    expect(await migrate(tested.store)).toEqual([]);
    expect(await missingSteps(tested.store)).toEqual([]);
    expect(await checkSchema(tested.store)).toMatchObject({ version: schemaVersion });
  });
});
