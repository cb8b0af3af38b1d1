import type { Database } from '@millrace/db';
import { ConfigError, type Logger } from '@millrace/runtime';

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

/** What one check has seen. */
export interface Finding {
  /** Nothing to do; look this week; act now. */
  state: 'ok' | 'warning' | 'problem';
  /** One line that says what is. Never a secret. */
  found: string;
  /** One line that says what to do; null when nothing has to be done. */
  advice: string | null;
}

/** A finding with the name of its check. */
export interface NamedFinding extends Finding {
  check: string;
}

export const ok = (found: string): Finding => ({ state: 'ok', found, advice: null });
export const warning = (found: string, advice: string): Finding => ({ state: 'warning', found, advice });
export const problem = (found: string, advice: string): Finding => ({ state: 'problem', found, advice });

/** What was found wrong, or that all is well. */
export function orOk(findings: Finding[], found: string): Finding[] {
  return findings.length > 0 ? findings : [ok(found)];
}

/** The first few of many, and how many more there are. */
export function listed(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export interface Check {
  name: string;
  /** Rejected when it cannot be found out. */
  look(): Promise<Finding[]> | Finding[];
}

/** How long one check may take: a server that is silent must not keep anybody from hearing of the others. */
const checkTimeoutMs = 5000;

/** Runs the checks side by side, each with its time limit. The findings come in the order of the checks. Never throws. */
export async function runChecks(checks: readonly Check[], timeoutMs = checkTimeoutMs): Promise<NamedFinding[]> {
  const all = await Promise.all(checks.map((check) => runCheck(check, timeoutMs)));
  return all.flat();
}

async function runCheck({ name, look }: Check, timeoutMs: number): Promise<NamedFinding[]> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    const findings = await Promise.race([(async () => look())(), limit]);
    return findings.map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    const finding = problem(
      `could not be checked: ${reasonOf(error)}`,
      'Fix the problem above and run `millrace doctor` again.',
    );
    return [{ check: name, ...finding }];
  } finally {
    clearTimeout(timer);
  }
}

/** How long a server is waited for, so that its own reason is heard before the check is given up. */
export const patienceMs = checkTimeoutMs - 500;

/** A finding when the server does not answer. @param setting where its address is. */
export async function reach(check: string, ask: () => Promise<unknown>, setting: string): Promise<NamedFinding | null> {
  const [failure] = await runChecks([
    {
      name: check,
      look: () =>
        ask().then(
          () => [],
          (error: unknown) => [notReached(error, setting)],
        ),
    },
  ]);
  return failure ?? null;
}

export function notReached(error: unknown, setting: string): Finding {
  return problem(
    `does not respond: ${reasonOf(error)}`,
    `Check that the server is running, that ${setting} is correct, and that a firewall does not block the connection.`,
  );
}

/** Part of the settings, or what is wrong with them. */
export function readPart<T>(check: string, read: () => T): { value: T } | { problems: NamedFinding[] } {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'Correct the setting (see docs/configuration.md). Services that read the setting do not start.';
    return { problems: error.problems.map((found) => ({ check, ...problem(found, advice) })) };
  }
}

/** Why something failed, in one line. Drivers name hosts, users and error codes in it, never a password. */
export function reasonOf(error: unknown): string {
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

/** A number of bytes for a person. */
export function shownBytes(bytes: number): string {
  let amount = bytes / 1024 / 1024;
  let step = 0;
  while (amount >= 1024 && step < steps.length - 1) {
    amount /= 1024;
    step += 1;
  }
  return `${amount < 10 && step > 0 ? amount.toFixed(1) : Math.round(amount)} ${steps[step]}`;
}
