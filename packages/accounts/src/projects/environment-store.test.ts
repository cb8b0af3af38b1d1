import { createDatabase } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase } from '@millrace/testing';
import { formatSettingPlaceholder } from './environment-store.ts';

test('marks a setting as JSON if and only if its column contains JSON', async () => {
  const testDatabase = await createTestDatabase();
  const database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'warn') });
  try {
    const columns = await database.sql.query<{ name: string; type: string }>(
      `SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_name = 'environment'`,
    );
    const json = columns.filter(({ type }) => type === 'jsonb').map(({ name }) => name);
    const written = columns
      .filter(({ name }) => formatSettingPlaceholder(name, 1) === '$1::jsonb')
      .map(({ name }) => name);
    expect(json).not.toEqual([]);
    expect(written.sort()).toEqual(json.sort());
  } finally {
    await database.stop();
    await testDatabase.drop();
  }
});
