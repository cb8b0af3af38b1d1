import type { Sql } from '@millrace/db';
import { type Finding, listed, orOk, problem, warning } from '../finding.ts';
import { readHiddenServices, readMissingPrivileges } from './postgres-store.ts';

/** The role may do what services do: read and write every table, and make the months of events. */
export async function checkPrivileges(sql: Sql): Promise<Finding[]> {
  const lacks = await readMissingPrivileges(sql);
  const hidden = await readHiddenServices(sql);
  const findings: Finding[] = [];
  if (lacks.length > 0) {
    findings.push(
      problem(
        `this role lacks ${listed(lacks)}`,
        'use the role that ran `millrace migrate` for all services, or make this one a member of it (GRANT <owner> TO <role>)',
      ),
    );
  }
  if (hidden.length > 0) {
    findings.push(
      warning(
        `this role cannot see the transactions of ${listed(hidden)}: batch exports start later than necessary`,
        'GRANT pg_read_all_stats TO the role of the delivery worker',
      ),
    );
  }
  return orOk(findings, 'this role may do all that services do');
}
