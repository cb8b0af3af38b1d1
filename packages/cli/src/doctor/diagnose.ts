import { readConfig } from '@millrace/runtime';
import { checkCertificateFiles } from './certificates/check-certificate-files.ts';
import { doctorSettingsSchema } from './doctor-settings.ts';
import type { NamedFinding } from './finding.ts';
import { diagnoseLog } from './kafka/diagnose-log.ts';
import { diagnoseMail } from './mail/diagnose-mail.ts';
import type { Patient } from './patient.ts';
import { diagnosePostgres } from './postgres/diagnose-postgres.ts';
import { readPart } from './reach.ts';
import { diagnoseRedis } from './redis/diagnose-redis.ts';
import { runChecks } from './run-checks.ts';
import { checkSettings } from './settings/check-settings.ts';

/** Looks at settings, certificates and all stores, side by side; a store that is away keeps none from being looked at. */
export async function diagnose(patient: Patient): Promise<NamedFinding[]> {
  const { env } = patient;
  const read = readPart('settings', () => readConfig(doctorSettingsSchema, env));
  // With the defaults what can be looked at is.
  const settings = 'value' in read ? read.value : readConfig(doctorSettingsSchema, {});
  const [postgres, redis, log, mail] = await Promise.all([
    diagnosePostgres(patient, settings),
    diagnoseRedis(patient),
    diagnoseLog(patient, settings),
    diagnoseMail(patient),
  ]);
  const ofSettings = await runChecks([
    { name: 'settings', look: () => ('value' in read ? checkSettings(settings, env) : []) },
    { name: 'certificates', look: () => checkCertificateFiles(env) },
  ]);
  return [...('problems' in read ? read.problems : []), ...ofSettings, ...postgres, ...redis, ...log, ...mail];
}
