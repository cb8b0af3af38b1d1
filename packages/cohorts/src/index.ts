export { addMembers, type MembersToAdd } from './add-members.ts';
export { type Audience, cohortAudience, filtersAudience, flagAudience } from './audience.ts';
export { countCohortMembers, type StaticCohort } from './cohort-member-store.ts';
export { matchPersons } from './match-persons.ts';
