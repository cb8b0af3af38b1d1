import { createTestDatabase } from '@millrace/testing';

test('clone', async () => {
  const d = await createTestDatabase();
  await d.drop();
});
