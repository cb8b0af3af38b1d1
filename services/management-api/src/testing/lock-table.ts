import type { Database } from '@millrace/db';

/** Locks a table until `release` is called, so that queries on the table wait. */
export async function lockTable(
  { transaction }: Pick<Database, 'transaction'>,
  table: 'event' | 'cohort_member',
): Promise<{ release: () => Promise<void> }> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = () => {};
  const isHeld = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const done = transaction(async (tx) => {
    await tx.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    begun();
    await held;
  });
  await isHeld;
  return {
    async release() {
      release();
      await done;
    },
  };
}
