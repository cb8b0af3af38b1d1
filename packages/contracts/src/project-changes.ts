/**
 * Channel of PostgreSQL (LISTEN, NOTIFY) on which triggers announce what gateways and consumers remember: an
 * environment's key or settings, its organization's plan, the operator's lists. It is announced with the commit, however
 * the change came about.
 */
export const projectChangeChannel = 'millrace_project_changes';

/** What changed. */
export interface ProjectChange {
  /** Null when only keys are concerned. */
  environmentId: number | null;
  /** Project API keys concerned: of a replaced one both. */
  tokens: string[];
  /** Flags, cohorts, group types or secret keys of the environment; its project API keys are not concerned. */
  isOfFlags: boolean;
}

/** The change a message announces; null: anything may have changed. */
export function parseProjectChange(payload: string): ProjectChange | null {
  try {
    const { environment_id, tokens, flags } = JSON.parse(payload) as Record<string, unknown>;
    if (!Array.isArray(tokens) || !tokens.every((token) => typeof token === 'string')) return null;
    const environmentId = typeof environment_id === 'number' ? environment_id : null;
    return { environmentId, tokens, isOfFlags: flags === true };
  } catch {
    return null;
  }
}
