/**
 * Access checks for every service that accepts personal API keys. Does not import the Prisma client, which gateways do
 * not load.
 */
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
export {
  findKeyInUse,
  findLiveKey,
  isProjectInKey,
  keyIsLive,
  type Membership,
  recordKeyUse,
} from './live-key-store.ts';
export { findLiveSession, findSessionInUse, recordSessionUse, sessionIsLive } from './live-session-store.ts';
