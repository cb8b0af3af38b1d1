import type { Prisma } from '@millrace/db';

/** The typed client or one of its transactions. Every account function is one atomic step on either. */
export type AccountClient = Prisma.TransactionClient;
