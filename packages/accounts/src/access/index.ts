/** Who may do what, for every service that takes personal API keys; without the typed client, which gateways do without. */
export { hashPersonalApiKey } from '../keys/key-values.ts';
export {
  effectiveLevel,
  environmentsOfCaller,
  explicitMemberJoin,
  mayHavePrivateEnvironments,
} from './effective-level.ts';
export {
  type FoundEnvironment,
  findEnvironment,
  foundEnvironmentColumns,
} from './environment-of-caller-store.ts';
export { isProjectInKey } from './key-reach.ts';
export { findLiveKey, type Membership, noteKeyUse } from './personal-key-store.ts';
