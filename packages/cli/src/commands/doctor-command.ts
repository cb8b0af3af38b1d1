// `millrace doctor`: checks the settings and servers of an installation, and prints how to fix problems.

import { createDatabase } from '@millrace/db';
import { createLogger, readConfig } from '@millrace/runtime';
import type { Command } from 'commander';
import { checkCertificateFiles } from '../doctor/certificates.ts';
import { type CheckedInstallation, type NamedFinding, readSomeSettings, runChecks } from '../doctor/checks.ts';
import { diagnoseLog } from '../doctor/kafka.ts';
import { diagnoseMail } from '../doctor/mail.ts';
import { diagnosePostgres } from '../doctor/postgres.ts';
import { diagnoseRedis } from '../doctor/redis.ts';
import { checkSettings, doctorSettingsSchema } from '../doctor/settings.ts';
import { createPrinter, type Terminal } from '../output.ts';
import { type GlobalOptions, readDatabaseUrl } from '../session.ts';
import { defaultPrismaDirectory } from './installation-commands.ts';

/** One connection for each PostgreSQL check, so that a check that hangs does not block other checks. */
const poolSize = 14;
const queryTimeoutMs = 4500;

export function addDoctorCommand(program: Command, terminal: Terminal): void {
  program
    .command('doctor')
    .description(
      "check settings, certificates, PostgreSQL, Redis, mail and the event log, and suggest fixes. Changes nothing. Run this command with a service's settings. Exits with code 1 if there is a problem",
    )
    .option(
      '--prisma-directory <path>',
      'directory that contains schema.prisma and migrations/',
      defaultPrismaDirectory,
    )
    .action(async ({ prismaDirectory }: { prismaDirectory: string }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const logger = createLogger('millrace-cli', 'error');
      // Do not log connection errors, because a finding already reports an unreachable server.
      logger.silent = true;
      const url = readDatabaseUrl(options, terminal);
      const database = createDatabase({ url, logger, poolSize, queryTimeoutMs, statementTimeoutMs: queryTimeoutMs });
      try {
        const findings = await diagnose({ env: terminal.env, databaseUrl: url, database, prismaDirectory, logger });
        if (options.json === true) createPrinter(terminal, true).table(findings.map((finding) => ({ ...finding })));
        else for (const finding of findings) terminal.out.write(toText(finding));
        const problems = findings.filter(({ state }) => state === 'problem').length;
        if (problems > 0) throw new Error(problems === 1 ? 'found 1 problem' : `found ${problems} problems`);
      } finally {
        await database.stop();
      }
    });
}

function toText({ check, state, found, advice }: NamedFinding): string {
  const lines = [`${state.padEnd(7)}  ${check}: ${found}`, ...(advice === null ? [] : [`         → ${advice}`])];
  // Replace control characters, which could move the terminal's cursor.
  return lines.map((line) => `${line.replace(/\p{Cc}/gu, '\uFFFD')}\n`).join('');
}

/**
 * Checks the settings, certificates and all stores in parallel. An unreachable store does not prevent the checks of
 * other stores.
 */
async function diagnose(patient: CheckedInstallation): Promise<NamedFinding[]> {
  const { env } = patient;
  const read = readSomeSettings('settings', () => readConfig(doctorSettingsSchema, env));
  // If the settings are invalid, run the remaining checks with the defaults.
  const settings = 'value' in read ? read.value : readConfig(doctorSettingsSchema, {});
  const [postgres, redis, log, mail] = await Promise.all([
    diagnosePostgres(patient, settings),
    diagnoseRedis(patient),
    diagnoseLog(patient, settings),
    diagnoseMail(patient),
  ]);
  const ofSettings = await runChecks([
    { name: 'settings', run: () => ('value' in read ? checkSettings(settings, env) : []) },
    { name: 'certificates', run: () => checkCertificateFiles(env) },
  ]);
  return [...('problems' in read ? read.problems : []), ...ofSettings, ...postgres, ...redis, ...log, ...mail];
}
