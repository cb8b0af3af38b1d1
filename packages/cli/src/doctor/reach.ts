import { ConfigError } from '@millrace/runtime';
import { type Finding, type NamedFinding, problem } from './finding.ts';
import { reasonOf } from './reason-of.ts';
import { checkTimeoutMs, runChecks } from './run-checks.ts';

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
    `does not answer: ${reasonOf(error)}`,
    `is the server up, is ${setting} right, and is the network open between here and there`,
  );
}

/** Part of the settings, or what is wrong with them. */
export function readPart<T>(check: string, read: () => T): { value: T } | { problems: NamedFinding[] } {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'set it as docs/configuration.md says; a service that reads it does not start';
    return { problems: error.problems.map((found) => ({ check, ...problem(found, advice) })) };
  }
}
