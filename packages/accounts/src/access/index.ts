/**
 * Access checks for services that accept personal API keys. Gateways load this module, so it must not import the Prisma
 * client.
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
  canKeyAccessProject,
  findKeyInUse,
  findLiveKey,
  keyIsLive,
  type Membership,
  recordKeyUse,
} from './live-key-store.ts';
export { findLiveSession, findSessionInUse, recordSessionUse, sessionIsLive } from './live-session-store.ts';
