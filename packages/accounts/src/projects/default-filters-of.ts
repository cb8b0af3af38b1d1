import { sqlOf } from '@millrace/db';
import type { AccountClient } from '../input/account-client.ts';
import { findMemberDomains } from '../members/member-domain-store.ts';
import { defaultAccountFilters } from './default-account-filters.ts';

/** The filters of a new environment of an organization; demo data is not filtered. */
export async function defaultFiltersOf(client: AccountClient, organizationId: string, isDemo: boolean) {
  const filters = isDemo ? [] : defaultAccountFilters(await findMemberDomains(sqlOf(client), organizationId));
  return filters.map((filter) => ({ ...filter }));
}
