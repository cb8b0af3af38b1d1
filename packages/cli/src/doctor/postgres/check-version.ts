import type { Sql } from '@millrace/db';
import { type Finding, ok, problem } from '../finding.ts';
import { readServer } from './postgres-store.ts';

const oldest = 15;

/** The server is one that can be written to, of a version that knows what is asked of it. */
export async function checkVersion(sql: Sql): Promise<Finding[]> {
  return judgeServer(await readServer(sql));
}

export function judgeServer({ version, shown, isStandby, isReadOnly }: Awaited<ReturnType<typeof readServer>>) {
  const findings: Finding[] = [];
  if (version < oldest * 10_000) {
    findings.push(
      problem(`PostgreSQL ${shown} is older than any Millrace works with`, `upgrade it to ${oldest} or newer`),
    );
  }
  if (isStandby) {
    findings.push(problem('this is a standby, which takes no writes', 'let DATABASE_URL name the primary'));
  } else if (isReadOnly) {
    findings.push(
      problem('transactions are read-only', 'set default_transaction_read_only off for the role and the database'),
    );
  }
  return findings.length > 0 ? findings : [ok(`PostgreSQL ${shown} answers`)];
}
