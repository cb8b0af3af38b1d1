import type { FlagData } from './flag-data.ts';

/**
 * Whether an environment has active flags. Browsers that hear of none do not ask, so what cannot be found out counts as yes.
 * @param environmentId null when it is not known whose key it is.
 */
export async function hasFlags(environmentId: number | null, { definitions }: FlagData): Promise<boolean> {
  if (environmentId === null) return true;
  try {
    return (await definitions.get(environmentId)).inOrder.length > 0;
  } catch {
    return true;
  }
}
