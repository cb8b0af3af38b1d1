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
