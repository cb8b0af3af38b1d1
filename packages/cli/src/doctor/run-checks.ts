import { type Finding, type NamedFinding, problem } from './finding.ts';
import { reasonOf } from './reason-of.ts';

export interface Check {
  name: string;
  /** Rejected when it cannot be found out. */
  look(): Promise<Finding[]> | Finding[];
}

/** How long one check may take: a server that is silent must not keep anybody from hearing of the others. */
export const checkTimeoutMs = 5000;

/** Runs the checks side by side, each with its time limit. The findings come in the order of the checks. Never throws. */
export async function runChecks(checks: readonly Check[], timeoutMs = checkTimeoutMs): Promise<NamedFinding[]> {
  const all = await Promise.all(checks.map((check) => runCheck(check, timeoutMs)));
  return all.flat();
}

async function runCheck({ name, look }: Check, timeoutMs: number): Promise<NamedFinding[]> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    const findings = await Promise.race([(async () => look())(), limit]);
    return findings.map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    const finding = problem(`could not be checked: ${reasonOf(error)}`, 'mend what the reason names, then ask again');
    return [{ check: name, ...finding }];
  } finally {
    clearTimeout(timer);
  }
}
