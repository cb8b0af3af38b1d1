import { databaseTls } from '@millrace/db';
import { checkPresented } from '../certificates/check-presented.ts';
import type { TlsServer } from '../certificates/tls-server.ts';
import type { DoctorSettings } from '../doctor-settings.ts';
import type { NamedFinding } from '../finding.ts';
import type { Patient } from '../patient.ts';
import { patienceMs, reach } from '../reach.ts';
import { runChecks } from '../run-checks.ts';
import { postgresChecks } from './postgres-checks.ts';

/** Its certificate too when it does not answer: that may be why. */
export async function diagnosePostgres(patient: Patient, settings: DoctorSettings): Promise<NamedFinding[]> {
  const { database, databaseUrl, prismaDirectory } = patient;
  const certificate = {
    name: 'postgresql certificate',
    look: () => checkPresented(tlsServers(databaseUrl), patienceMs),
  };
  const away = await reach('postgresql server', () => database.sql.query('SELECT 1'), 'DATABASE_URL');
  if (away !== null) return [away, ...(await runChecks([certificate]))];
  return runChecks([...postgresChecks(database, { settings, prismaDirectory }), certificate]);
}

function tlsServers(databaseUrl: string): TlsServer[] {
  const tls = databaseTls(databaseUrl);
  if (tls === null) return [];
  const { asksFirst, ...server } = tls;
  return [
    {
      ...server,
      begins: asksFirst ? 'postgresql' : 'at once',
      authoritySetting: 'DATABASE_SSL_CA_FILE (or sslrootcert)',
    },
  ];
}
