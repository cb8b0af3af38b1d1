/**
 * The PostgreSQL channel (LISTEN and NOTIFY) on which triggers announce changes of data that gateways and consumers
 * cache: an environment's key or settings, its organization's plan, and the operator's lists. PostgreSQL sends the
 * notification on commit, regardless of which program made the change.
 */
export const projectChangeChannel = 'millrace_project_changes';

export interface ProjectChange {
  /** The environment whose data changed, or null if the change affects only keys. */
  environmentId: number | null;
  /** The affected project API keys: the old and the new key if a key was replaced. */
  tokens: string[];
  /**
   * True if the environment's flags, cohorts, group types or secret keys changed, but nothing about its project API
   * key.
   */
  isOfFlags: boolean;
}

/** Parses a notification. Returns null if it is malformed. Receivers must then assume that any data has changed. */
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
