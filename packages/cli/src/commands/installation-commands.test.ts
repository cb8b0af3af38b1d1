import { createDatabase } from '@millrace/db';
import { createLogger } from '@millrace/runtime';
import { createTestDatabase } from '@millrace/testing';
import type { Session } from '../session.ts';
import { bootstrapInstallation } from './installation-commands.ts';

test('several bootstraps at the same time create one complete organization', async () => {
  const testDatabase = await createTestDatabase();
  const database = createDatabase({ url: testDatabase.url, logger: createLogger('test', 'error') });
  try {
    const change: Session['change'] = (work) =>
      database.transaction((tx) => work(tx, { actor: { command: 'bootstrap' }, record: async () => {} }));
    const results = await Promise.all(
      [1, 2, 3, 4].map((number) =>
        bootstrapInstallation(change, {
          organizationName: `Organization ${number}`,
          email: `owner-${number}@example.com`,
          projectName: 'Shop',
          plan: 'full',
          isForced: false,
        }),
      ),
    );

    expect(results.filter((created) => created !== null)).toHaveLength(1);
    const { organization, user, membership, project, personal_api_key } = database.prisma;
    const counts = [organization, user, membership, project, personal_api_key].map((model) =>
      (model as typeof organization).count(),
    );
    expect(await Promise.all(counts)).toEqual([1, 1, 1, 1, 1]);
  } finally {
    await database.stop();
    await testDatabase.drop();
  }
});
