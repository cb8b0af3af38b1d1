export {
  type Audience,
  createCohortAudience,
  createFiltersAudience,
  createFlagAudience,
  createPageSizer,
  findCohortsOfPerson,
  matchPersons,
} from './audience.ts';
export { countCohortMembersByValues } from './count-members.ts';
export { addPersonsToCohort, type MembersToAdd } from './members.ts';
export { countStaticCohortMembers, type StaticCohort } from './store.ts';
