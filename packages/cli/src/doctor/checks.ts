// Runs the checks of `millrace doctor`, each with a time limit, and collects their findings.

import type { Database } from '@millrace/db';
import { ConfigError, type Logger } from '@millrace/runtime';

export interface CheckedInstallation {
  env: Record<string, string | undefined>;
  /** The database URL, including the password and TLS parameters. */
  databaseUrl: string;
  database: Pick<Database, 'sql' | 'listen' | 'prisma'>;
  prismaDirectory: string;
  logger: Logger;
}

export interface Finding {
  /** `ok` requires no action, `warning` should be looked at this week, and `problem` requires action now. */
  state: 'ok' | 'warning' | 'problem';
  /** A one-line description of the state, which never contains secrets. */
  found: string;
  /** The recommended action in one line, or null if no action is required. */
  advice: string | null;
}

export interface NamedFinding extends Finding {
  check: string;
}

export const ok = (found: string): Finding => ({ state: 'ok', found, advice: null });
export const warning = (found: string, advice: string): Finding => ({ state: 'warning', found, advice });
export const problem = (found: string, advice: string): Finding => ({ state: 'problem', found, advice });

/** Returns the given findings. If the list is empty, returns a single finding with the state `ok`. */
export function findingsOrOk(findings: Finding[], found: string): Finding[] {
  return findings.length > 0 ? findings : [ok(found)];
}

/** Joins the first `most` names, and adds the number of omitted names. */
export function joinNames(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export interface Check {
  name: string;
  /** Runs the check. Rejects if it cannot determine the state. */
  run(): Promise<Finding[]> | Finding[];
}

/** Time limit for one check, so that an unresponsive server does not delay the other checks. */
const checkTimeoutMs = 5000;

/**
 * Runs all checks in parallel, each with a time limit. Returns the findings in the order of the checks. Never throws.
 */
export async function runChecks(checks: readonly Check[], timeoutMs = checkTimeoutMs): Promise<NamedFinding[]> {
  const all = await Promise.all(checks.map((check) => runCheck(check, timeoutMs)));
  return all.flat();
}

async function runCheck({ name, run }: Check, timeoutMs: number): Promise<NamedFinding[]> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    const findings = await Promise.race([(async () => run())(), limit]);
    return findings.map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    const finding = problem(
      `could not be checked: ${describeReason(error)}`,
      'Fix the problem above and run `millrace doctor` again.',
    );
    return [{ check: name, ...finding }];
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Timeout of connections and queries. It is shorter than a check's time limit, so that the finding contains the
 * server's error.
 */
export const connectTimeoutMs = checkTimeoutMs - 500;

/**
 * Returns a finding if the server does not respond.
 * @param setting the name of the setting with the server's address
 */
export async function checkReachable(
  check: string,
  ask: () => Promise<unknown>,
  setting: string,
): Promise<NamedFinding | null> {
  const [failure] = await runChecks([
    {
      name: check,
      run: () =>
        ask().then(
          () => [],
          (error: unknown) => [createUnreachableFinding(error, setting)],
        ),
    },
  ]);
  return failure ?? null;
}

export function createUnreachableFinding(error: unknown, setting: string): Finding {
  return problem(
    `does not respond: ${describeReason(error)}`,
    `Check that the server is running, that ${setting} is correct, and that a firewall does not block the connection.`,
  );
}

/** Reads some of the settings. If they are invalid, returns the errors as findings instead of throwing them. */
export function readSomeSettings<T>(check: string, read: () => T): { value: T } | { problems: NamedFinding[] } {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'Correct the setting (see docs/configuration.md). Services that read the setting do not start.';
    return { problems: error.problems.map((found) => ({ check, ...problem(found, advice) })) };
  }
}

/**
 * Describes an error in one line. Error messages of drivers contain hosts, users and error codes, but never passwords.
 */
export function describeReason(error: unknown): string {
  const reasons: string[] = [];
  for (let each = error; each instanceof Error && reasons.length < 3; each = each.cause) {
    const [first] = each instanceof AggregateError ? each.errors : [];
    const text = lastLine(each.message || (first instanceof Error ? first.message : each.name));
    if (!reasons.some((reason) => reason.includes(text))) reasons.push(text);
  }
  return reasons.length > 0 ? reasons.join(': ') : String(error);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? text;
}

const steps = ['MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  let amount = bytes / 1024 / 1024;
  let step = 0;
  while (amount >= 1024 && step < steps.length - 1) {
    amount /= 1024;
    step += 1;
  }
  return `${amount < 10 && step > 0 ? amount.toFixed(1) : Math.round(amount)} ${steps[step]}`;
}
