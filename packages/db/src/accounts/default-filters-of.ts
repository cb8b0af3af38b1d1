import type { AccountClient } from './account-client.ts';
import { defaultAccountFilters } from './default-account-filters.ts';
import { findMemberDomains } from './member-domain-store.ts';
import { sqlOf } from './sql-of.ts';

/** The filters of a new environment of an organization; demo data is not filtered. */
export async function defaultFiltersOf(client: AccountClient, organizationId: string, isDemo: boolean) {
  const filters = isDemo ? [] : defaultAccountFilters(await findMemberDomains(sqlOf(client), organizationId));
  return filters.map((filter) => ({ ...filter }));
}
