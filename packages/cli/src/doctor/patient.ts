import type { Database } from '@millrace/db';
import type { Logger } from '@millrace/runtime';

/** What is looked at. */
export interface Patient {
  env: Record<string, string | undefined>;
  /** With its password, and all that it says of TLS. */
  databaseUrl: string;
  database: Pick<Database, 'sql' | 'listen' | 'prisma'>;
  /** The folder with the migrations of this version. */
  prismaDirectory: string;
  logger: Logger;
}
