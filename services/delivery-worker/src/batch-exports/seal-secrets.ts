import type { Database } from '@millrace/db';
import { type Logger, type SecretBox, SecretBoxError } from '@millrace/runtime';
import { lockForSealing, storeSecrets } from './secret-store.ts';

const portion = 100;

/**
 * Encrypts the secrets of exports that are not encrypted with the newest key: those that were stored before there was a
 * key, and those of an older one. So a new key only has to be put in front of the old one, which may go once this is done.
 *
 * @returns whether there may be more.
 */
export async function sealSecrets({
  database,
  logger,
  secretBox,
}: {
  database: Database;
  logger: Logger;
  secretBox: SecretBox;
}): Promise<boolean> {
  const { newestPrefix, keyIds } = secretBox;
  if (newestPrefix === null) return false;
  const sealed = await database.transaction(async (tx) => {
    const rows = await lockForSealing(tx, { newestPrefix, keyIds, limit: portion });
    let count = 0;
    for (const { id, secrets } of rows) {
      try {
        await storeSecrets(tx, id, { ...secretBox.seal(secretBox.open(secrets, id), id) });
        count += 1;
      } catch (error) {
        if (!(error instanceof SecretBoxError)) throw error;
        logger.debug('the secrets of an export could not be decrypted', { batchExportId: id });
      }
    }
    return count;
  });
  if (sealed > 0) logger.info('secrets of batch exports were encrypted with the newest key', { count: sealed });
  return sealed === portion;
}
