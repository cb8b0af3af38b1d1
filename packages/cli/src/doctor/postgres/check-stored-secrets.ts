import { type Sql, sealingKeyIds } from '@millrace/db';
import { createSecretBox } from '@millrace/runtime';
import type { DoctorSettings } from '../doctor-settings.ts';
import { type Finding, orOk, problem, warning } from '../finding.ts';
import { countPlainSecrets } from './postgres-store.ts';

/** SECRETS_KEY opens what lies in the database, and nothing lies there in the clear that should not. */
export async function checkStoredSecrets(sql: Sql, settings: DoctorSettings): Promise<Finding[]> {
  const used = await sealingKeyIds(sql);
  const missing = used.filter((id) => !createSecretBox(settings.secretsKey).keyIds.includes(id));
  const plain = await countPlainSecrets(sql);
  const findings: Finding[] = [];
  if (missing.length > 0) {
    const what = settings.secretsKey === undefined ? 'SECRETS_KEY is not set' : 'SECRETS_KEY lacks a key';
    findings.push(
      problem(
        `${what}, and secrets in the database are encrypted with ${missing.join(', ')}: services do not start, exports and payloads cannot be read`,
        'put the former key behind the new one: SECRETS_KEY=<new>,<former>',
      ),
    );
  }
  if (plain > 0 && (settings.nodeEnv === 'production' || settings.secretsKey !== undefined)) {
    findings.push(
      warning(
        `the secrets of ${plain} batch exports lie in the database as they are, and in its backups`,
        'set SECRETS_KEY for all services, and let a delivery worker run: it encrypts them',
      ),
    );
  }
  return orOk(findings, used.length === 0 ? 'none is stored encrypted' : 'SECRETS_KEY opens all that are stored');
}
