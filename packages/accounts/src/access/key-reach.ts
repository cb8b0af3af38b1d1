/** What a key is restricted to; empty lists restrict nothing. */
export interface KeyReach {
  scopedTeams: readonly number[];
  scopedOrganizations: readonly string[];
}

/** Whether a key may be used for a project: for one of its environments, and in its organization. */
export function isProjectInKey(
  { scopedTeams, scopedOrganizations }: KeyReach,
  found: { environmentIds: readonly number[]; organizationId: string },
): boolean {
  const isInOrganization = scopedOrganizations.length === 0 || scopedOrganizations.includes(found.organizationId);
  const isItself = scopedTeams.length === 0 || found.environmentIds.some((id) => scopedTeams.includes(id));
  return isInOrganization && isItself;
}
