/** Who may do what, for every service that takes personal API keys; without the typed client, which gateways do without. */
export { hashPersonalApiKey } from '../keys/key-values.ts';
export { hashSecret, newSecret } from '../keys/secrets.ts';
export {
  effectiveLevel,
  environmentsOfCaller,
  type FoundEnvironment,
  findEnvironment,
  foundEnvironmentColumns,
  mayHavePrivateEnvironments,
} from './environment-access-store.ts';
export { findKeyInUse, findLiveKey, isProjectInKey, keyIsLive, type Membership, noteKeyUse } from './live-key-store.ts';
export { findLiveSession, findSessionInUse, noteSessionUse, sessionIsLive } from './live-session-store.ts';
